import { afterAll, describe, expect, it } from "vitest";
import { failed } from "#shared/contracts/outcome.ts";
import { CHECK_TYPES } from "#control-plane/outages/kinds/kinds.ts";
import { openSecrets } from "#control-plane/outages/kinds/secrets.ts";
import { RECORD } from "#control-plane/monitors/settings/fields.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { attachIdle } from "#test/support/idle-agent.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { createAccountKey, fieldsOfForm, signInOwner } from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());
const agents = [await attachIdle(plane, "eu-west"), await attachIdle(plane, "us-east")];
const { browser: owner, accountId } = await signInOwner(plane);
const key = await createAccountKey(plane, accountId);

afterAll(async () => {
  for (const agent of agents ?? []) agent.stop();
});

/** A monitor of every kind, with secrets where it can have them. */
const FULL: Readonly<Record<string, object>> = {
  http: {
    url: "https://shop.example.com/health",
    method: "POST",
    body: "a=1&b= two \nthree",
    request_headers: { Authorization: "Bearer secret-of-http", "X-Odd": "a: b" },
    expected_codes: [200, 204],
    json: { path: "$.status", op: "equals", value: "1" },
    degraded_ms: 900,
    retries: 3,
    recovery: 2,
    follow: false,
  },
  keyword: { url: "https://shop.example.com/", keyword: "Welcome", keyword_mode: "absent", expected_code: 201 },
  ssl: { url: "shop.example.com", port: 8443, timeout_seconds: 9 },
  domain: { url: "example.com" },
  dns: { url: "example.com", dns: { type: "MX", op: "equals", values: ["10 mx.example.com."], dnssec: "secure" } },
  ping: { url: "8.8.8.8", notify_email: false },
  port: { url: "shop.example.com", port: 5432, quorum: 2 },
  tcp: { url: "shop.example.com:25", tcp: { tls: "none", send: "HELO secret-of-tcp\r\n", expect: "250" } },
  grpc: { url: "shop.example.com:443", grpc: { service: "shop", tls: true, metadata: { "x-key": "secret-g" } } },
  websocket: { url: "wss://shop.example.com/", websocket: { send: "secret-of-ws", expect: "pong" } },
  visual: { url: "https://shop.example.com/", visual: { full_page: true, threshold_percent: 2.5 } },
  heartbeat: { heartbeat: { cron: "30 2 * * *", timezone: "Europe/Berlin", grace_seconds: 600, methods: "post" } },
};

/** The settings of a monitor as the API shows them. */
async function settingsOf(id: number): Promise<Record<string, unknown>> {
  const { body } = await plane.call(`/api/v4/monitors?id=${id}`, { key });
  const shown = body.data as Record<string, unknown>;
  return Object.fromEntries(Object.keys(RECORD.properties).map((name) => [name, shown[name]]));
}

async function secretsOf(id: number): Promise<unknown> {
  const [row] = await plane.app.sql<{ secrets: Uint8Array | null }[]>`select secrets from monitors where id = ${id}`;
  return openSecrets(plane.app.encryption, row?.secrets ?? null);
}

async function create(kind: string): Promise<number> {
  const members = kind === "composite" ? [await create("http"), await create("ping")] : [];
  const body = kind === "composite" ? { composite: { monitor_ids: members, down_when: "all" } } : FULL[kind];
  const isPlaced = kind !== "composite" && kind !== "heartbeat" && kind !== "domain";
  const probed = isPlaced ? { locations: kind === "visual" ? ["eu-west"] : ["eu-west", "us-east"] } : {};
  const common = { check_type: kind, name: `a ${kind}`, tags: ["one", "two"] };
  return (await createMonitor(plane, key, { ...body, ...probed, ...common })).id;
}

describe("the form of a monitor", () => {
  it.each(CHECK_TYPES)("changes nothing of a monitor of the kind %s that is saved as it is", async (kind) => {
    const id = await create(kind);
    const [before, secrets] = [await settingsOf(id), await secretsOf(id)];
    const path = `/app/monitors/${id}/edit`;
    const page = await owner.get(path);
    expect(page.html).not.toContain("secret-");
    const saved = await owner.post(path, { ...fieldsOfForm(page.html, path), do: "save" });
    expect([saved.status, saved.location], saved.html).toEqual([303, `/app/monitors/${id}?done=saved`]);
    expect(await settingsOf(id)).toEqual(before);
    expect(await secretsOf(id)).toEqual(secrets);
  });

  it.each(CHECK_TYPES)("of the kind %s copies a monitor without its secrets", async (kind) => {
    const id = await create(kind);
    const page = await owner.get(`/app/monitors/new?from=${id}`);
    const fields = fieldsOfForm(page.html, "/app/monitors/new");
    expect(JSON.stringify(fields)).not.toMatch(/secret-|\*\*\*\*/);
    const saved = await owner.post("/app/monitors/new", { ...fields, do: "save" });
    expect(saved.status, saved.html).toBe(303);
    const copy = await settingsOf(Number(/\d+/.exec(saved.location ?? "")?.[0]));
    const original = await settingsOf(id);
    const same = ["name", "url", "check_type", "tags", "interval_minutes", "retries", "timeout_seconds", "depends_on"];
    for (const name of same) expect([name, copy[name]]).toEqual([name, original[name]]);
    for (const name of ["json", "follow", "keyword", "port", "dns", "composite"])
      expect([name, copy[name]]).toEqual([name, original[name]]);
  });

  it("adds the first monitor by its address alone, and keeps an address that is refused", async () => {
    const { browser } = await signInOwner(plane, "first@example.com");
    const fields = { check_type: "http", follow: "on", notify_email: "on", do: "save" };
    const { html } = await browser.get("/app/monitors");
    for (const [name, value] of Object.entries(fields).slice(0, -1)) {
      expect(html).toContain(`<input type="hidden" name="${name}" value="${value}">`);
    }
    expect(html).toContain('name="do" value="save"');
    const refused = await browser.post("/app/monitors/new", { ...fields, url: "no address" });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain('value="no address"');
    // The form says that nothing was saved, and the cursor is in the first field with a problem.
    expect(refused.html).toContain("Nothing was saved.");
    expect(refused.html.match(/ autofocus/g)).toHaveLength(1);
    expect(refused.html).toMatch(/id="f-url"[^>]* aria-invalid="true" autofocus>/);
    const created = await browser.post("/app/monitors/new", { ...fields, url: "https://shop.example.com/" });
    expect(created.location).toMatch(/^\/app\/monitors\/\d+\?done=created$/);
    // The page follows fast until the first check.
    expect((await browser.get(created.location ?? "")).html).toContain('data-live="1"');
  });

  it("changes the one field that was typed, and no secret beside it", async () => {
    const id = await create("http");
    const [before, secrets] = [await settingsOf(id), await secretsOf(id)];
    const path = `/app/monitors/${id}/edit`;
    const fields = fieldsOfForm((await owner.get(path)).html, path);
    expect(fields["request_headers"]).toBe("Authorization: ****\nX-Odd: ****");
    expect((await owner.post(path, { ...fields, name: "Shop", do: "save" })).status).toBe(303);
    expect(await settingsOf(id)).toEqual({ ...before, name: "Shop" });
    expect(await secretsOf(id)).toEqual(secrets);
  });

  it("is tried with its stored secrets, and without them at another origin", async () => {
    const id = await create("http");
    const agent = await attachScripted(plane, helloOf("ap-south"));
    const path = `/app/monitors/${id}/edit`;
    try {
      const fields = { ...fieldsOfForm((await owner.get(path)).html, path), locations: "ap-south" };
      const tryOut = async (change: object): Promise<{ readonly html: string; readonly params: string }> => {
        const [job, answer] = await Promise.all([
          agent.nextJob().then((taken) => {
            agent.accept(taken);
            agent.answer(taken, failed("connect", "target", "refused", "connection refused"));
            return taken;
          }),
          owner.post(path, { ...fields, ...change, do: "try" }),
        ]);
        expect(answer.status, answer.html).toBe(200);
        expect(answer.html).not.toContain("secret-of-http");
        expect(fieldsOfForm(answer.html, path)["request_headers"]).toBe("Authorization: ****\nX-Odd: ****");
        return { html: answer.html, params: job.params };
      };
      const tried = await tryOut({});
      expect(tried.params).toContain("Bearer secret-of-http");
      expect(tried.html).not.toContain("was not sent");
      const moved = await tryOut({ url: "https://other.example.net/" });
      expect(moved.params).not.toContain("secret-of-http");
      expect(moved.html).toContain("&quot;request_headers.Authorization&quot; was not sent, because the url leads to");
    } finally {
      agent.cut();
    }
  });

  it("says what is wrong beside the field, and keeps what was typed", async () => {
    const typed = { check_type: "http", url: "https://x.example.com/", interval_minutes: "often", retries: "99" };
    const refused = await owner.post("/app/monitors/new", { ...typed, name: `<b>"typed`, do: "save" });
    expect(refused.status).toBe(400);
    expect(refused.html).toMatch(/<p class="problem" id="p-(interval_minutes|retries)">/);
    expect(refused.html).toMatch(/<details class="part" open><summary>When/);
    expect(fieldsOfForm(refused.html, "/app/monitors/new")).toMatchObject({ ...typed, name: `<b>"typed` });
    expect(refused.html).not.toContain("<b>");
    const none = await owner.post("/app/monitors/new", { check_type: "nothing" });
    expect(none.status).toBe(400);
  });
});
