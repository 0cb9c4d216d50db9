import { createHmac, timingSafeEqual } from "node:crypto";

import { NodeApiError, NodeConnectionTypes } from "n8n-workflow";
import type {
  IDataObject,
  IHookFunctions,
  INodeType,
  INodeTypeDescription,
  IWebhookFunctions,
  IWebhookResponseData,
  JsonObject,
} from "n8n-workflow";

import { list, segment, send } from "../requests";

const AGE_SECONDS_MAX = 300;
const ENDPOINTS_MAX = 50; // of an organization

export class AfterwordTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Afterword Trigger",
    name: "afterwordTrigger",
    icon: { light: "file:../../icons/afterword.svg", dark: "file:../../icons/afterword.dark.svg" },
    group: ["trigger"],
    version: 1,
    subtitle: '={{ $parameter["events"].join(", ") }}',
    description: "Starts the workflow when a customer answers, or when a case needs somebody",
    eventTriggerDescription: "",
    defaults: { name: "Afterword Trigger" },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: "afterwordApi", required: true }],
    webhooks: [{ name: "default", httpMethod: "POST", responseMode: "onReceived", path: "webhook", rawBody: true }],
    properties: [
      {
        displayName: "Events",
        name: "events",
        type: "multiOptions",
        required: true,
        default: ["questionnaire_instance.completed"],
        options: [
          { name: "Case Closed", value: "alert_instance.resolved" },
          { name: "Case Opened", value: "alert_instance.created" },
          { name: "Case Overdue", value: "alert_instance.overdue" },
          { name: "Customer Answered a Case", value: "alert_instance.answered" },
          { name: "Message Bounced", value: "queue_item.bounced" },
          { name: "Message Sent", value: "queue_item.sent" },
          { name: "Person Unsubscribed", value: "responder.unsubscribed" },
          { name: "Response Completed", value: "questionnaire_instance.completed" },
          { name: "Response Started", value: "questionnaire_instance.submitted" },
        ],
        description: "What starts the workflow; the token needs to read it",
      },
    ],
  };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const data = this.getWorkflowStaticData("node");
        const url = this.getNodeWebhookUrl("default");
        const found = await list(this, "/webhook", ENDPOINTS_MAX);
        const events = [...(this.getNodeParameter("events") as string[])].sort().join();
        return found.some(
          (one) =>
            one.webhook_id === data.webhookId &&
            data.secret !== undefined &&
            one.target_url === url &&
            one.active === true &&
            [...(one.event_types as string[])].sort().join() === events,
        );
      },

      async create(this: IHookFunctions): Promise<boolean> {
        const body: IDataObject = {
          title: `n8n: ${this.getWorkflow().name ?? "workflow"}`.slice(0, 200),
          target_url: this.getNodeWebhookUrl("default"),
          event_types: this.getNodeParameter("events") as string[],
        };
        const made = (await send(this, "POST", "/webhook", { body })).body as IDataObject;
        Object.assign(this.getWorkflowStaticData("node"), { webhookId: made.webhook_id, secret: made.secret });
        return true;
      },

      async delete(this: IHookFunctions): Promise<boolean> {
        const data = this.getWorkflowStaticData("node");
        if (data.webhookId !== undefined) {
          try {
            await send(this, "DELETE", `/webhook/${segment(data.webhookId)}`);
          } catch (error) {
            const isGone = Number((error as { httpCode?: unknown }).httpCode) === 404; // somebody removed it there
            if (!isGone) throw new NodeApiError(this.getNode(), error as JsonObject);
          }
        }
        delete data.webhookId;
        delete data.secret;
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { secret } = this.getWorkflowStaticData("node");
    const { headers, rawBody } = this.getRequestObject();
    if (typeof secret !== "string" || !isSigned(headers, rawBody, secret)) {
      this.getResponseObject().status(401).json({ detail: "The signature is missing, wrong or too old." });
      return { noWebhookResponse: true };
    }
    return { workflowData: [this.helpers.returnJsonArray(this.getBodyData())] };
  }
}

/** As in Standard Webhooks: `webhook-signature` has one or more of `v1,` with the HMAC of id, time and body. */
function isSigned(headers: Record<string, unknown>, body: Buffer, secret: string): boolean {
  const [id, time] = [String(headers["webhook-id"]), String(headers["webhook-timestamp"])];
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= AGE_SECONDS_MAX)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest();
  return String(headers["webhook-signature"])
    .split(" ")
    .map((one) => Buffer.from(one.replace(/^v1,/, ""), "base64"))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}
