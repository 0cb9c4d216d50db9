import { NodeApiError, NodeConnectionTypes } from "n8n-workflow";
import type {
  IDataObject,
  IExecuteFunctions,
  ILoadOptionsFunctions,
  INodeExecutionData,
  INodePropertyOptions,
  INodeType,
  INodeTypeDescription,
  JsonObject,
} from "n8n-workflow";

import { list, segment, send } from "../requests";

const LISTED_MAX = 500; // of the lists that one chooses from

type Operation = (context: IExecuteFunctions, index: number) => Promise<IDataObject[]>;

const OPERATIONS: Record<string, Record<string, Operation>> = {
  message: {
    schedule: async (context, index) => {
      const more = context.getNodeParameter("additionalFields", index, {}) as IDataObject;
      const { metadata, ...fields } = more;
      const rows = ((metadata as IDataObject | undefined)?.values ?? []) as Array<{ name: string; value: string }>;
      const body: IDataObject = {
        responder_channel_identifier: context.getNodeParameter("address", index),
        ...fields,
        ...(rows.length ? { metadata: { questionnaire: Object.fromEntries(rows.map((row) => [row.name, row.value])) } } : {}),
      };
      const questionnaire = segment(context.getNodeParameter("questionnaireId", index));
      const pipeline = segment(context.getNodeParameter("pipelineId", index));
      const path = `/q/questionnaire/${questionnaire}/pipeline/${pipeline}/queue/item`;
      return [(await send(context, "POST", path, { body })).body as IDataObject];
    },
    cancel: async (context, index) => {
      const path = `/q/queue/item/${segment(context.getNodeParameter("itemId", index))}`;
      const body = { status_id: 5, result: context.getNodeParameter("reason", index) };
      return [(await send(context, "PATCH", path, { body })).body as IDataObject];
    },
    get: async (context, index) => {
      const path = `/q/queue/item/${segment(context.getNodeParameter("itemId", index))}`;
      return [(await send(context, "GET", path)).body as IDataObject];
    },
  },
  response: {
    get: async (context, index) => {
      const path = `/q/instance/${segment(context.getNodeParameter("instanceId", index))}`;
      return [(await send(context, "GET", path)).body as IDataObject];
    },
    getAll: (context, index) => many(context, index, "/q/instance"),
  },
  case: {
    get: async (context, index) => {
      const path = `/alert/instance/${segment(context.getNodeParameter("caseId", index))}`;
      return [(await send(context, "GET", path)).body as IDataObject];
    },
    getAll: (context, index) => many(context, index, "/alert/instance"),
  },
};

function many(context: IExecuteFunctions, index: number, path: string): Promise<IDataObject[]> {
  const isAll = context.getNodeParameter("returnAll", index) as boolean;
  return list(context, path, isAll ? Infinity : (context.getNodeParameter("limit", index) as number));
}

export class Afterword implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Afterword",
    name: "afterword",
    icon: { light: "file:../../icons/afterword.svg", dark: "file:../../icons/afterword.dark.svg" },
    group: ["output"],
    version: 1,
    subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
    description: "Ask customers how it went, and read what they answered",
    defaults: { name: "Afterword" },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: "afterwordApi", required: true }],
    properties: [
      {
        displayName: "Resource",
        name: "resource",
        type: "options",
        noDataExpression: true,
        options: [
          { name: "Case", value: "case" },
          { name: "Message", value: "message" },
          { name: "Response", value: "response" },
        ],
        default: "message",
      },
      {
        displayName: "Operation",
        name: "operation",
        type: "options",
        noDataExpression: true,
        displayOptions: { show: { resource: ["message"] } },
        options: [
          {
            name: "Cancel",
            value: "cancel",
            description: "Cancel a message that waits, after a refund for instance",
            action: "Cancel a message",
          },
          { name: "Get", value: "get", description: "Read the state of a message", action: "Get a message" },
          {
            name: "Schedule",
            value: "schedule",
            description: "Send a questionnaire to a customer, now or later",
            action: "Schedule a message",
          },
        ],
        default: "schedule",
      },
      {
        displayName: "Operation",
        name: "operation",
        type: "options",
        noDataExpression: true,
        displayOptions: { show: { resource: ["response"] } },
        options: [
          { name: "Get", value: "get", description: "Read a response with its answers", action: "Get a response" },
          { name: "Get Many", value: "getAll", description: "Read the latest responses", action: "Get many responses" },
        ],
        default: "getAll",
      },
      {
        displayName: "Operation",
        name: "operation",
        type: "options",
        noDataExpression: true,
        displayOptions: { show: { resource: ["case"] } },
        options: [
          { name: "Get", value: "get", description: "Read a case of an unhappy customer", action: "Get a case" },
          { name: "Get Many", value: "getAll", description: "Read the latest cases", action: "Get many cases" },
        ],
        default: "getAll",
      },
      {
        displayName: "Questionnaire Name or ID",
        name: "questionnaireId",
        type: "options",
        typeOptions: { loadOptionsMethod: "getQuestionnaires" },
        default: "",
        required: true,
        displayOptions: { show: { resource: ["message"], operation: ["schedule"] } },
        description:
          'What is asked. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
      },
      {
        displayName: "Pipeline Name or ID",
        name: "pipelineId",
        type: "options",
        typeOptions: { loadOptionsMethod: "getPipelines", loadOptionsDependsOn: ["questionnaireId"] },
        default: "",
        required: true,
        displayOptions: { show: { resource: ["message"], operation: ["schedule"] } },
        description:
          'How it is sent. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
      },
      {
        displayName: "Address",
        name: "address",
        type: "string",
        default: "",
        placeholder: "ann@example.com",
        required: true,
        displayOptions: { show: { resource: ["message"], operation: ["schedule"] } },
        description: "The customer's e-mail address, or phone number with its country code",
      },
      {
        displayName: "Additional Fields",
        name: "additionalFields",
        type: "collection",
        placeholder: "Add Field",
        default: {},
        displayOptions: { show: { resource: ["message"], operation: ["schedule"] } },
        options: [
          {
            displayName: "Language",
            name: "locale",
            type: "string",
            default: "",
            placeholder: "en",
            description: "The language of the message; without it, the customer's or the pipeline's",
          },
          {
            displayName: "Metadata",
            name: "metadata",
            type: "fixedCollection",
            typeOptions: { multipleValues: true },
            default: {},
            description: "What is known of the order, by the names that are declared in Afterword",
            options: [
              {
                displayName: "Values",
                name: "values",
                values: [
                  { displayName: "Name", name: "name", type: "string", default: "", placeholder: "branch" },
                  { displayName: "Value", name: "value", type: "string", default: "" },
                ],
              },
            ],
          },
          {
            displayName: "Reference",
            name: "external_reference",
            type: "string",
            default: "",
            placeholder: "1042",
            description: "Your own key, such as the order number: a workflow that runs again does not ask again",
          },
          {
            displayName: "Send Time",
            name: "send_time",
            type: "dateTime",
            default: "",
            description: "When to send; without it, by the pipeline's delay",
          },
        ],
      },
      {
        displayName: "Message ID",
        name: "itemId",
        type: "string",
        default: "",
        required: true,
        displayOptions: { show: { resource: ["message"], operation: ["cancel", "get"] } },
      },
      {
        displayName: "Reason",
        name: "reason",
        type: "string",
        default: "Order was canceled",
        displayOptions: { show: { resource: ["message"], operation: ["cancel"] } },
        description: "Why it is cancelled, for your colleagues",
      },
      {
        displayName: "Response ID",
        name: "instanceId",
        type: "string",
        default: "",
        required: true,
        displayOptions: { show: { resource: ["response"], operation: ["get"] } },
      },
      {
        displayName: "Case ID",
        name: "caseId",
        type: "string",
        default: "",
        required: true,
        displayOptions: { show: { resource: ["case"], operation: ["get"] } },
      },
      {
        displayName: "Return All",
        name: "returnAll",
        type: "boolean",
        default: false,
        displayOptions: { show: { resource: ["case", "response"], operation: ["getAll"] } },
        description: "Whether to return all results or only up to a given limit",
      },
      {
        displayName: "Limit",
        name: "limit",
        type: "number",
        typeOptions: { minValue: 1 },
        default: 50,
        displayOptions: { show: { resource: ["case", "response"], operation: ["getAll"], returnAll: [false] } },
        description: "Max number of results to return",
      },
    ],
  };

  methods = {
    loadOptions: {
      async getQuestionnaires(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
        const found = await list(this, "/q/questionnaire", LISTED_MAX);
        return found.map((one) => ({ name: String(one.display_name), value: String(one.questionnaire_id) }));
      },
      async getPipelines(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
        const questionnaire = this.getCurrentNodeParameter("questionnaireId");
        if (!questionnaire) return []; // nobody has chosen one yet
        const found = await list(this, `/q/questionnaire/${segment(questionnaire)}/pipeline`, LISTED_MAX);
        return found.map((one) => ({ name: String(one.title), value: String(one.pipeline_id) }));
      },
    },
  };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const operation =
      OPERATIONS[this.getNodeParameter("resource", 0) as string][this.getNodeParameter("operation", 0) as string];
    const results: INodeExecutionData[] = [];
    for (let index = 0; index < this.getInputData().length; index += 1) {
      try {
        const found = await operation(this, index);
        results.push(...found.map((json) => ({ json, pairedItem: { item: index } })));
      } catch (error) {
        const failure = new NodeApiError(this.getNode(), error as JsonObject, { itemIndex: index });
        if (!this.continueOnFail()) throw failure;
        const words = [failure.message, failure.description].filter(Boolean).join(": "); // the second says what is wrong
        results.push({ json: { error: words }, pairedItem: { item: index } });
      }
    }
    return [results];
  }
}
