import { describe, expect, it } from "vitest";
import { ADMIN_TOKEN, startControlPlane } from "#test/support/control-plane.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

// Names that every object inherits are, as keys of a request, unknown fields like any other.

const NAMES = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf", "toJSON", "then"];

const plane = await stopAfterAll(startControlPlane({ plans: WIDE_PLANS }));
const key = await plane.createKey("captain");

const MONITOR = { url: "https://example.com/", is_active: false };

/** A write, its sample, and the path of the object in the sample that gets the name. */
const WRITES: readonly (readonly [method: string, path: string, sample: object, inside: readonly string[]])[] = [
  ["POST", "/api/v4/monitors", MONITOR, []],
  ["POST", "/api/v4/monitors", { ...MONITOR, json: { path: "$", op: "exists" } }, ["json"]],
  ["POST", "/api/v4/monitors", { check_type: "heartbeat", heartbeat: {} }, ["heartbeat"]],
  ["POST", "/api/v4/monitors", { ...MONITOR, check_type: "visual", visual: {} }, ["visual"]],
  ["POST", "/api/v4/monitors", { ...MONITOR, check_type: "visual", visual: { viewport: {} } }, ["visual", "viewport"]],
  ["PUT", "/api/v4/monitors?id=1", {}, []],
  ["PUT", "/api/v4/monitors?id=1", { heartbeat: {} }, ["heartbeat"]],
  ["POST", "/api/v4/monitors?action=import", { version: 1, monitors: [MONITOR] }, []],
  ["POST", "/api/v4/monitors?action=import", { version: 1, monitors: [MONITOR] }, ["monitors", "0"]],
  ["POST", "/api/v3/monitors", { url: "https://example.com/" }, []],
  ["PUT", "/api/v3/monitors?id=1", {}, []],
  ["POST", "/api/v4/batch", { urls: ["https://example.com/"] }, []],
  ["POST", "/api/v4/measurements", { tool: "check", params: { url: "https://example.com/" } }, []],
  ["POST", "/api/v4/webhooks", { url: "https://example.com/" }, []],
  ["POST", "/api/v4/webhooks", { url: "https://example.com/", format: "ntfy", format_options: {} }, ["format_options"]],
  ["PUT", "/api/v4/webhooks?id=1", {}, []],
  ["POST", "/api/v4/status", { title: "Shop", slug: "shop" }, []],
  ["POST", "/api/v4/status", { title: "Shop", slug: "shop", monitors: [{ id: 1 }] }, ["monitors", "0"]],
  ["PUT", "/api/v4/status?id=1", {}, []],
  ["POST", "/api/v4/incidents", { title: "Slow", text: "We look into it.", monitor_ids: [1] }, []],
  ["PUT", "/api/v4/incidents?id=1", { update: { text: "Known." } }, ["update"]],
  ["POST", "/api/v4/maintenance", { title: "Backup", starts_at: "2099-01-01T00:00:00Z" }, []],
  ["PUT", "/api/v4/maintenance?id=1", {}, []],
  ["POST", "/api/admin/keys", { plan: "free" }, []],
  ["POST", "/api/admin/accounts", { email: "me@example.com" }, []],
];

/** Returns the sample as JSON with a member of this name in the object at the path. */
function withMember(sample: object, [step, ...inside]: readonly string[], name: string, value: unknown): string {
  const entries = Object.entries(sample).map(([field, one]) => {
    const text = field === step ? withMember(one as object, inside, name, value) : JSON.stringify(one);
    return [field, text] as const;
  });
  if (Array.isArray(sample)) return `[${entries.map(([, text]) => text).join(",")}]`;
  const added = step === undefined ? [[name, JSON.stringify(value)] as const] : [];
  return `{${[...entries, ...added].map(([field, text]) => `${JSON.stringify(field)}:${text}`).join(",")}}`;
}

function send(method: string, path: string, body: string) {
  const access = path.startsWith("/api/admin") ? { authorization: `Bearer ${ADMIN_TOKEN}` } : { "x-api-key": key };
  return plane.call(path, { method, body, headers: { ...access, "content-type": "application/json" } });
}

describe("a name that objects inherit is refused as an unknown field", () => {
  it.each(WRITES)("%s %s %j in %j", async (method, path, sample, inside) => {
    for (const name of NAMES) {
      const isText = inside.includes("format_options");
      for (const value of isText ? ["****", "x"] : [{ a: 1 }, ["a"], "****", null]) {
        // oxlint-disable-next-line no-await-in-loop -- one after another, so that a failure names its body
        const { status, body, text } = await send(method, path, withMember(sample, inside, name, value));
        expect([status, body.error], text).toMatchObject([
          400,
          { code: "missing_parameter", field: name === "__proto__" ? name : [...inside, name].join(".") },
        ]);
      }
    }
  });
});

it("as the name of a tool, a format or a header field it means nothing else than another word does", async () => {
  for (const name of NAMES) {
    const refused: readonly (readonly [path: string, sample: object, field: string])[] = [
      ["batch", { urls: ["https://example.com/"], type: name }, "type"],
      ["measurements", { tool: name }, "tool"],
      ["webhooks", { url: "https://example.com/", format: name }, "format"],
      ["monitors", { ...MONITOR, check_type: name }, "check_type"],
    ];
    for (const [path, sample, field] of refused) {
      // oxlint-disable-next-line no-await-in-loop -- as above
      const { status, body, text } = await send("POST", `/api/v4/${path}`, JSON.stringify(sample));
      expect([status, body.error], text).toMatchObject([400, { field }]);
    }
    const headers = withMember({ ...MONITOR, request_headers: {} }, ["request_headers"], name, "****");
    // oxlint-disable-next-line no-await-in-loop -- as above
    const { status, text } = await send("POST", "/api/v4/monitors", headers);
    expect(status, text).toBe(400);
  }
});
