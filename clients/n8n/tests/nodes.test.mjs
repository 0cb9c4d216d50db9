// The built nodes in a context as n8n gives it, with BASE_URL, TOKEN, QUESTIONNAIRE_ID and PIPELINE_ID of a running service.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createRequire } from "node:module";
import { test } from "node:test";

import afterword from "../dist/nodes/Afterword/Afterword.node.js";
import trigger from "../dist/nodes/AfterwordTrigger/AfterwordTrigger.node.js";

const { NodeApiError } = createRequire(import.meta.url)("n8n-workflow");
const { BASE_URL, TOKEN, QUESTIONNAIRE_ID, PIPELINE_ID } = process.env;
const TARGET = "https://n8n.example.com/webhook/1";

/** What nodes ask of n8n; `parameters` are those of the node, `data` is what it keeps with the workflow. */
function context(parameters, data = {}, more = {}) {
  return {
    getCredentials: async () => ({ url: `${BASE_URL}/`, token: TOKEN }),
    getNodeParameter: (name, _index, otherwise) => parameters[name] ?? otherwise,
    getCurrentNodeParameter: (name) => parameters[name],
    getInputData: () => [{ json: {} }],
    getNode: () => ({ name: "Afterword", type: "afterword", typeVersion: 1, parameters: {} }),
    getNodeWebhookUrl: () => TARGET,
    getWorkflow: () => ({ name: "After delivery" }),
    getWorkflowStaticData: () => data,
    continueOnFail: () => false,
    helpers: {
      returnJsonArray: (json) => [{ json }],
      async httpRequestWithAuthentication(_name, { method, url, qs = {}, body }) {
        const query = new URLSearchParams(qs);
        const response = await fetch(`${url}?${query}`, {
          method,
          headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        if (!response.ok) {
          const refused = { httpCode: String(response.status), response: { data: JSON.parse(text) } };
          throw new NodeApiError({ name: "Afterword" }, refused); // as n8n does
        }
        return { body: text ? JSON.parse(text) : "", headers: Object.fromEntries(response.headers) };
      },
    },
    ...more,
  };
}

const run = async (parameters, more) => {
  const [found] = await afterword.Afterword.prototype.execute.call(context(parameters, {}, more), parameters);
  return found;
};
const schedule = (more = {}) => ({
  resource: "message",
  operation: "schedule",
  questionnaireId: QUESTIONNAIRE_ID,
  pipelineId: PIPELINE_ID,
  address: "ann@example.com",
  additionalFields: { send_time: new Date(Date.now() + 86_400_000).toISOString(), ...more },
});

test("a refusal names the field, and can be an output", async () => {
  const wrong = schedule({ locale: "no language" });
  await assert.rejects(run(wrong), { name: "NodeApiError" });
  const [{ json, pairedItem }] = await run(wrong, { continueOnFail: () => true });
  assert.match(json.error, /^Your request is invalid.*: 1 field is wrong: locale\./);
  assert.deepEqual(pairedItem, { item: 0 });
});

test("a message is scheduled with a reference once, read and cancelled", async () => {
  const [made] = await run(schedule({ external_reference: "1042" }));
  assert.equal(made.json.external_reference, "1042");
  await assert.rejects(run(schedule({ external_reference: "1042" })), { name: "NodeApiError" });
  const itemId = made.json.item_id;
  const [read] = await run({ resource: "message", operation: "get", itemId });
  assert.equal(read.json.status_id, 1);
  const [cancelled] = await run({ resource: "message", operation: "cancel", itemId, reason: "Refunded" });
  assert.deepEqual([cancelled.json.status_id, cancelled.json.result], [5, "Refunded"]);
});

test("lists of responses and cases are read to their limit", async () => {
  for (const resource of ["response", "case"]) {
    assert.deepEqual(await run({ resource, operation: "getAll", returnAll: true }), []);
    assert.deepEqual(await run({ resource, operation: "getAll", returnAll: false, limit: 5 }), []);
  }
});

test("questionnaires and their pipelines are there to choose from", async () => {
  const { loadOptions } = new afterword.Afterword().methods;
  const questionnaires = await loadOptions.getQuestionnaires.call(context({}));
  assert.ok(questionnaires.some((one) => one.value === QUESTIONNAIRE_ID && one.name));
  assert.deepEqual(await loadOptions.getPipelines.call(context({ questionnaireId: "" })), []);
  const pipelines = await loadOptions.getPipelines.call(context({ questionnaireId: QUESTIONNAIRE_ID }));
  assert.ok(pipelines.some((one) => one.value === PIPELINE_ID && one.name));
});

test("the trigger subscribes, is found, and unsubscribes, also where somebody removed it", async () => {
  const { default: hook } = new trigger.AfterwordTrigger().webhookMethods;
  const data = {};
  const events = ["questionnaire_instance.completed", "alert_instance.created"];
  assert.equal(await hook.checkExists.call(context({ events }, data)), false);
  assert.equal(await hook.create.call(context({ events }, data)), true);
  assert.match(data.secret, /^whsec_/);
  const { webhookId } = data;
  assert.equal(await hook.checkExists.call(context({ events: [...events].reverse() }, data)), true);
  assert.equal(await hook.checkExists.call(context({ events: ["queue_item.sent"] }, data)), false);
  assert.equal(await hook.delete.call(context({ events }, data)), true);
  assert.deepEqual(data, {});
  assert.equal(await hook.delete.call(context({ events }, { webhookId })), true);
});

test("the trigger starts for a signed event alone", async () => {
  const key = Buffer.from("k".repeat(32));
  const body = Buffer.from('{"score": 3, "event": {"type": "questionnaire_instance.completed"}}');
  const signed = (time, text = body) => ({
    "webhook-id": "e1",
    "webhook-timestamp": String(time),
    "webhook-signature": `v1,AAAA v1,${createHmac("sha256", key).update(`e1.${time}.`).update(text).digest("base64")}`,
  });
  const now = Math.floor(Date.now() / 1000);
  const start = async (headers, secret = `whsec_${key.toString("base64")}`) => {
    let status = 200;
    const response = { status: (code) => ((status = code), response), json: () => response };
    const asked = {
      getRequestObject: () => ({ headers, rawBody: body }),
      getResponseObject: () => response,
      getBodyData: () => JSON.parse(body),
    };
    const found = await trigger.AfterwordTrigger.prototype.webhook.call(context({}, { secret }, asked));
    return [status, found.workflowData?.[0][0].json.score];
  };
  const refused = [{}, signed(now - 301), signed(now + 301), signed("x"), signed(now, Buffer.from("{}"))];
  for (const headers of refused) assert.deepEqual(await start(headers), [401, undefined]);
  assert.deepEqual(await start(signed(now), undefined), [200, 3]);
  assert.deepEqual(await start(signed(now), null), [401, undefined]);
});
