import { afterAll, beforeAll, expect, it } from "vitest";
import { BUILT_IN_PLANS, type Plans } from "#control-plane/core/plans.ts";
import { ADMIN_TOKEN, startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { replaceTexts, type Documented, type OddRequest, type OddText } from "#test/support/documented-requests.ts";

const PER_MINUTE = 1_000_000;
const captain = { ...BUILT_IN_PLANS.captain, requestsPerMinute: PER_MINUTE, requestsPerDay: PER_MINUTE };

let plane: TestControlPlane;
let key: string;
let documented: Documented;

beforeAll(async () => {
  const plans: Plans = { ...BUILT_IN_PLANS, captain };
  const config = { trustedProxies: ["127.0.0.1"], openPerMinute: PER_MINUTE, openPerDay: PER_MINUTE };
  plane = await startControlPlane({ plans, config });
  // The samples of the document name account 1 and key 1, which operators' requests change and erase, so the caller
  // uses others.
  await plane.createKey();
  key = await plane.createKey();
  documented = (await plane.call("/openapi.json")).body as unknown as Documented;
});
afterAll(() => plane?.stop());

let clients = 0;

/** Returns what is wrong with the answer to a request; null if nothing is. Each request has another client address. */
async function findFault({ name, method, path, headers, body, isOperators }: OddRequest): Promise<string | null> {
  clients += 1;
  const given = {
    "x-forwarded-for": `2001:db8:0:${clients.toString(16)}::1`,
    "content-type": "application/json",
    ...(isOperators ? { authorization: `Bearer ${ADMIN_TOKEN}` } : {}),
    ...headers,
  };
  const { status, text } = await plane.call(path, {
    key,
    method,
    headers: given,
    ...(body === undefined ? {} : { body }),
  });
  // No agent is attached that could run a check, and the readiness endpoint says so.
  const isExpected = status === 503 && /probe_unavailable|"failing":\["agents"\]/.test(text);
  return status < 500 || isExpected ? null : `${name}: ${status} ${text.slice(0, 200)}`;
}

async function findFaults(requests: Iterable<OddRequest>): Promise<readonly string[]> {
  const queue = Iterator.from(requests);
  const faults: string[] = [];
  const lane = async () => {
    for (const request of queue) {
      const fault = await findFault(request);
      if (fault !== null) faults.push(fault);
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  return faults;
}

const ODD: Readonly<Record<string, OddText>> = {
  NUL: { inUrl: "a%00b", inHeader: null, inJson: "a\0b" },
  "every other kind of control character": {
    inUrl: "a%01%09%0A%1B%7F%C2%85b",
    inHeader: "a\t\u0085b",
    inJson: "a\u0001\t\n\u001b\u007f\u0085b",
  },
  "half a surrogate pair": { inUrl: "a%ED%A0%80b", inHeader: null, inJson: "a\ud800b" },
  "no UTF-8": { inUrl: "a%FFb", inHeader: "a\u00ffb", inJson: null },
  "a word of 600 letters": { inUrl: "a".repeat(600), inHeader: "a".repeat(600), inJson: "a".repeat(600) },
  "a broken escape": { inUrl: "a%zzb", inHeader: null, inJson: null },
};

it.each(Object.keys(ODD))("%s in any place where a caller can write it never causes an error of ours", async (name) => {
  const odd = ODD[name];
  if (odd === undefined) throw new Error(name);
  const requests = [...replaceTexts(documented, odd)];
  expect(requests.length).toBeGreaterThan(100);
  expect(await findFaults(requests)).toEqual([]);
});

it("nor does it at the agent endpoint", async () => {
  const faults: string[] = [];
  for (const [name, { inJson }] of Object.entries(ODD)) {
    if (inJson === null) continue;
    const calls = [
      { method: inJson, params: {} },
      { method: "tools/call", params: { name: inJson, arguments: {} } },
      { method: "tools/call", params: { name: "check_dns", arguments: { domain: inJson, [inJson]: inJson } } },
      { method: "tools/call", params: { name: "get_batch", arguments: { job_id: inJson } } },
      { method: "tools/list", id: inJson },
    ];
    for (const called of calls) {
      const body = { jsonrpc: "2.0", id: 1, ...called };
      const { status, text } = await plane.call("/mcp", { body, headers: { authorization: `Bearer ${key}` } });
      if (status >= 500 || text.includes("internal_error")) faults.push(`${name}, ${called.method}: ${status} ${text}`);
    }
  }
  expect(faults).toEqual([]);
});
