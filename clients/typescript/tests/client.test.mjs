// What the client sends and repeats; with BASE_URL, TOKEN, QUESTIONNAIRE_ID and PIPELINE_ID against a running service.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { ApiError, Client, Disconnected } from "../dist/index.js";

const problem = (status, code, headers = {}) =>
  new Response(JSON.stringify({ code, detail: "A sentence." }), { status, headers });
const answer = (status, body) => new Response(JSON.stringify(body), { status });

/** A client whose wire gives these answers in turn, what it was asked, and how long it waited. */
function scripted(...answers) {
  const asked = [];
  const waited = [];
  const client = new Client("https://survey.example", {
    token: "afw_t",
    wait: async (milliseconds) => void waited.push(milliseconds),
    fetch: async (url, init) => {
      asked.push({ url, ...init });
      const next = answers.shift();
      if (next instanceof Error) throw next;
      return next;
    },
  });
  return { client, asked, waited };
}

for (const url of ["localhost:8341", "survey.example.com", "", "ftp://survey.example.com", "https://"]) {
  test(`refuses the address ${JSON.stringify(url)}`, () => {
    assert.throws(() => new Client(url, { token: "afw_t" }), /An address such as/);
  });
}

test("needs a token or credentials, and not both", () => {
  const credentials = { clientId: "a", clientSecret: "b" };
  for (const options of [{}, { token: "" }, { token: "afw_t", credentials }]) {
    assert.throws(() => new Client("https://survey.example", options), /token or credentials/);
  }
});

test("refuses an id that an address would leave out", () => {
  const { client } = scripted();
  for (const id of ["", ".", ".."]) assert.throws(() => client.queueSimplified.getSimplifiedItem(id), /An id is expected/);
});

for (const status of [400, 401, 403, 404, 409, 412, 422, 500]) {
  test(`does not repeat a ${status}`, async () => {
    const { client, asked } = scripted(problem(status, "code"));
    await assert.rejects(client.request("GET", "/q/x"), { status, code: "code", message: `${status} code: A sentence.` });
    assert.equal(asked.length, 1);
  });
}

test("says what is wrong with each field", async () => {
  const errors = [{ code: "unknown_value", message: "There is no such language.", pointer: "/locale" }];
  const { client } = scripted(answer(422, { code: "invalid", detail: "2 fields are wrong.", errors }));
  await assert.rejects(client.request("GET", "/q/x"), {
    message: "422 invalid: 2 fields are wrong. /locale: There is no such language.",
  });
});

test("takes the page of a proxy for what it is", async () => {
  const { client } = scripted(...Array.from({ length: 4 }, () => new Response("<html>", { status: 502 })));
  await assert.rejects(client.request("GET", "/q/x"), /did not come from Afterword/);
});

test("gives up", async () => {
  const { client, asked } = scripted(...Array.from({ length: 4 }, () => new TypeError("fetch failed")));
  await assert.rejects(client.request("GET", "/q/x"), Disconnected);
  assert.equal(asked.length, 4);
});

test("carries one key through all tries of a POST", async () => {
  const { client, asked, waited } = scripted(new TypeError("gone"), problem(503, "unavailable"), answer(201, {}));
  assert.equal((await client.request("POST", "/q/x", {}, { a: 1 })).status, 201);
  assert.equal(new Set(asked.map((one) => one.headers["Idempotency-Key"])).size, 1);
  assert.deepEqual([asked.length, waited.length], [3, 2]);
});

test("waits as long as the service says, but not for ever", async () => {
  const soon = scripted(problem(429, "rate_limited", { "Retry-After": "7" }), answer(200, {}));
  await soon.client.request("GET", "/q/x");
  assert.deepEqual(soon.waited, [7000]);
  const late = scripted(problem(429, "rate_limited", { "Retry-After": "3600" }));
  await assert.rejects(late.client.request("GET", "/q/x"), { status: 429 });
  assert.deepEqual(late.waited, []);
});

test("takes a row as deleted when a try whose answer was lost deleted it", async () => {
  const { client } = scripted(new TypeError("gone"), problem(404, "not_found"));
  assert.equal((await client.request("DELETE", "/q/x")).status, 204);
});

test("nests filters and orders as the service reads them", async () => {
  const { client, asked } = scripted(answer(200, []));
  const filter_by = { IN: { StatusId: [1, 2] }, EQUAL: { Locale: "el" } };
  const found = client.queue.listItems("a/b", "c", { filter_by, order_by: { DESC: ["SendTime"] }, limit: 5 });
  assert.deepEqual(await found.next(), { done: true, value: undefined });
  const url = new URL(asked[0].url);
  assert.equal(url.pathname, "/v3.2/q/questionnaire/a%2Fb/pipeline/c/queue/item");
  assert.deepEqual([...url.searchParams].sort(), [
    ["filter_by[EQUAL][Locale]", "el"],
    ["filter_by[IN][StatusId][]", "1"],
    ["filter_by[IN][StatusId][]", "2"],
    ["limit", "5"],
    ["order_by[DESC][]", "SendTime"],
  ]);
});

/** A client whose export comes in pieces, each when the one before was read, and stalls behind them where it must. */
function streaming(pieces, { stalls = false } = {}) {
  const body = (signal) =>
    new ReadableStream({
      async pull(controller) {
        signal.addEventListener("abort", () => controller.error(signal.reason));
        if (pieces.length) controller.enqueue(new TextEncoder().encode(pieces.shift()));
        else if (!stalls) controller.close();
        else await new Promise(() => {});
      },
    });
  const fetch = async (_url, { signal }) => new Response(body(signal));
  return new Client("https://survey.example", { token: "afw_t", timeoutMs: 50, fetch });
}

test("gives a file piece by piece, and breaks off where no piece comes", async () => {
  const text = async (client) => {
    let found = "";
    for await (const piece of client.questionnaireExports.getExportFile("e")) found += new TextDecoder().decode(piece);
    return found;
  };
  assert.equal(await text(streaming(["a", "b", "c"])), "abc");
  await assert.rejects(text(streaming(["a"], { stalls: true })), Disconnected);
});

describe("against the running service", { skip: !process.env.BASE_URL }, () => {
  const { BASE_URL, TOKEN, QUESTIONNAIRE_ID, PIPELINE_ID } = process.env;
  const send_time = new Date(Date.now() + 86_400_000).toISOString();

  test("schedules, changes, cancels and deletes", async () => {
    const client = new Client(BASE_URL, { token: TOKEN });
    const item = await client.queue.scheduleItem(QUESTIONNAIRE_ID, PIPELINE_ID, {
      responder_channel_identifier: "ann@example.com",
      send_time,
      locale: "el",
    });
    assert.deepEqual([item.status_id, item.locale], [1, "el"]);
    const cancelled = await client.queueSimplified.changeSimplifiedItem(item.item_id, { status_id: 5 });
    assert.equal(cancelled.status_id, 5);
    const later = { send_time: new Date(Date.now() + 172_800_000).toISOString() };
    await assert.rejects(client.queueSimplified.changeSimplifiedItem(item.item_id, later), { code: "item_closed" });
    assert.equal(await client.queueSimplified.deleteSimplifiedItem(item.item_id), undefined);
    await assert.rejects(client.queueSimplified.getSimplifiedItem(item.item_id), { status: 404 });
  });

  test("walks a list to its end", async () => {
    const client = new Client(BASE_URL, { token: TOKEN });
    const made = new Set();
    for (let number = 0; number < 5; number += 1) {
      const body = { responder_channel_identifier: `bob${number}@example.com`, send_time, locale: "de" };
      made.add((await client.queue.scheduleItem(QUESTIONNAIRE_ID, PIPELINE_ID, body)).item_id);
    }
    const found = new Set();
    const filter_by = { EQUAL: { Locale: "de" } };
    for await (const item of client.queue.listItems(QUESTIONNAIRE_ID, PIPELINE_ID, { filter_by, limit: 2 })) {
      found.add(item.item_id);
    }
    assert.deepEqual(found, made);
  });

  test("exchanges credentials, and says which scope lacks", async () => {
    const credentials = { clientId: process.env.TOKEN_ID, clientSecret: TOKEN, scope: "questionnaire.read" };
    const client = new Client(BASE_URL, { credentials });
    const first = await client.questionnaires.listQuestionnaires().next();
    assert.equal(first.value.questionnaire_id.length, 22);
    await assert.rejects(
      client.queue.scheduleItem(QUESTIONNAIRE_ID, PIPELINE_ID, { responder_channel_identifier: "ann@example.com" }),
      (error) => error instanceof ApiError && error.requiredScopes.includes("Queue.Create"),
    );
  });
});
