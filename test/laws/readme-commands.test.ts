import { readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LAUNCHER_PATH } from "#shared/client/programs.ts";
import { quoted } from "#shared/text/quoted.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { clientCommands } from "#test/laws/readme-client.ts";
import { BLOCKS, NOT_RUN } from "#test/laws/readme-not-run.ts";
import { freePort } from "#test/support/free-port.ts";
import { startNewcomer, type Newcomer } from "#test/support/newcomer.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";
import { readInstructions, readMcpLine } from "#test/support/readme.ts";

// Every command and address of the documents against a product that was started as the README says. A line that is new
// there fails here until it is run, or has a reason why it is not.

let newcomer: Newcomer;
let database: TestDatabase;
/** What `probes token` printed. */
let joining = "";
/** Id of a key that may go. */
let spareKey = "";

beforeAll(async () => {
  [newcomer, database] = await Promise.all([startNewcomer(), createTestDatabase()]);
});
afterAll(async () => {
  await newcomer?.clean();
  await database?.drop();
});

/** Runs a line that must succeed; its output. */
async function succeed(line: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const { status, stdout, stderr } = await newcomer.run(line, more);
  expect(status, `${line}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

/** Runs a curl line; the JSON of a 2xx answer. */
async function ask(line: string): Promise<{ readonly data: Readonly<Record<string, unknown>>; readonly meta: object }> {
  return JSON.parse(await succeed(`${line} -sS --fail-with-body`)) as { data: Record<string, unknown>; meta: object };
}

/** Fetches an address of the product, which documents write without its scheme and host. */
async function get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const url = newcomer.atHome(path.startsWith("/") ? `http://127.0.0.1:8080${path}` : `http://${path}`);
  const response = await fetch(url, { headers });
  const text = await response.text();
  expect(response.status, `${url}\n${text}`).toBe(200);
  return text;
}

/** What an accepted call says to poll. */
function poll({ poll_url }: Readonly<Record<string, unknown>>): Promise<string> {
  const { pathname, search } = new URL(String(poll_url), "http://127.0.0.1");
  return get(`${pathname}${search}`, { "x-api-key": newcomer.key });
}

/** A monitor of one minute changes within minutes. */
const MONITORED = { interval: 500 };

/** Tries one line, given as it is run here; rejects where it does not do what the document says. */
type Check = (line: string) => Promise<void>;

/** What is run, by the literal text of a document. */
const COMMANDS: Readonly<Record<string, Check>> = {
  "npm start": async () => {
    expect(newcomer.greeting).toContain(newcomer.atHome("http://127.0.0.1:8080\n").replace("127.0.0.1", "localhost"));
    expect(newcomer.key).toMatch(/^vtg_\w{36}$/);
    // "prints ... a curl line": each of them is run as it was printed.
    const printed = newcomer.greeting.split("\n").filter((line) => line.startsWith("  curl "));
    expect(printed).toHaveLength(2);
    for (const line of printed) await ask(newcomer.atHome(line.trim()));
  },
  "deploy/vantage keys create --plan captain": async (line) => {
    expect(await succeed(line)).toMatch(/^vtg_\w{36}\n\(key \d+, plan captain; not shown again\)\n$/);
  },
  "deploy/vantage keys create --account-id 1": async (line) => {
    expect(await succeed(line)).toMatch(/^vtg_\w{36}\n\(key \d+, plan captain; not shown again\)\n$/);
  },
  [`curl -X PUT -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "http://127.0.0.1:8080/api/admin/accounts?id=1" -d '{"email": "you@example.com"}'`]:
    async (line) => {
      const answer = await succeed(`${line} -sS --fail-with-body`, { TOKEN: newcomer.operatorToken });
      expect(JSON.parse(answer)).toMatchObject({ data: { id: 1, email: "you@example.com" } });
    },
  "deploy/vantage keys create --plan pro": async (line) => {
    const made = await succeed(line);
    expect(made).toMatch(/^vtg_\w{36}\n\(key \d+, plan pro; /);
    spareKey = /\(key (\d+),/.exec(made)?.[1] ?? "";
  },
  "deploy/vantage keys list": async (line) => {
    const listed = await succeed(line);
    // Of the first account: the key of the first start, and the one above.
    expect(listed.match(/^\d+ +1 +vtg_\w+ +captain /gm)).toHaveLength(2);
    expect(listed).not.toContain(newcomer.key);
  },
  "deploy/vantage sign-in-link": async (line) => expect(await succeed(line)).toMatch(/\/start\/\w{32}\n/),
  "deploy/vantage keys delete ID": async (line) =>
    expect(await succeed(line.replace("ID", spareKey))).toBe("Deleted.\n"),
  'curl -H "X-API-Key: $KEY" "http://127.0.0.1:8080/api/v4/check?url=https://example.com"': async (line) => {
    expect((await ask(line)).data).toMatchObject({ code: 200, tls: { authorized: true } });
  },
  'curl -H "X-API-Key: $KEY" "http://127.0.0.1:8080/api/v4/ping?host=example.com&locations=all"': async (line) => {
    expect((await ask(line)).data).toMatchObject({ locations: [{ status: "ok", data: { host: "example.com" } }] });
  },
  'curl -N -H "X-API-Key: $KEY" -H "Accept: text/event-stream" "http://127.0.0.1:8080/api/v4/ping?host=example.com&action=traceroute"':
    async (line) => {
      const events = await succeed(`${line} -sS`);
      expect(events).toMatch(/^event: done$/m);
      // As the greeting has said.
      const isOff = newcomer.greeting.includes("ICMP and traceroute are off");
      expect(events).toContain(isOff ? '"reason":"unsupported"' : "event: progress");
    },
  [`curl -H "X-API-Key: $KEY" -H "Content-Type: application/json" http://127.0.0.1:8080/api/v4/measurements -d '{"tool": "ping", "params": {"host": "example.com"}, "locations": "all"}'`]:
    async (line) => {
      const { data } = await ask(line);
      expect(await poll(data)).toContain('"tool":"ping"');
    },
  [`curl -H "X-API-Key: $KEY" -H "Content-Type: application/json" http://127.0.0.1:8080/api/v4/batch -d '{"type": "http-status", "urls": ["https://example.com", "example.org"]}'`]:
    async (line) => {
      const { data } = await ask(line);
      expect(await poll(data)).toContain(String(data["job_id"]));
    },
  [`curl -H "X-API-Key: $KEY" -H "Content-Type: application/json" http://127.0.0.1:8080/api/v4/monitors -d '{"name": "Shop", "url": "https://example.com", "check_type": "http", "interval_minutes": 1}'`]:
    async (line) => {
      expect((await ask(line)).data).toMatchObject({ id: 1, name: "Shop", status: "unknown" });
    },
  'curl -H "X-API-Key: $KEY" "http://127.0.0.1:8080/api/v4/monitors?id=1"': async (line) => {
    await expect.poll(async () => (await ask(line)).data["status"], MONITORED).toBe("up");
    expect((await ask(line)).data["checks"]).not.toEqual([]);
  },
  [`curl -X PUT -H "X-API-Key: $KEY" -H "Content-Type: application/json" "http://127.0.0.1:8080/api/v4/monitors?id=1" -d '{"expected_code": 404}'`]:
    async (line) => {
      expect((await ask(line)).data).toMatchObject({ expected_code: 404, status: "up" });
    },
  'curl -X POST -H "X-API-Key: $KEY" "http://127.0.0.1:8080/api/v4/monitors?action=run&id=1"': async (line) => {
    expect((await ask(line)).data).toEqual({ id: 1 });
  },
  'curl -H "X-API-Key: $KEY" "http://127.0.0.1:8080/api/v4/incidents?monitor_id=1"': async (line) => {
    const read = async () => ((await ask(line)).data as unknown as readonly object[])[0];
    await expect.poll(read, MONITORED).toMatchObject({ title: "Shop is down", cause: { code: "http_status" } });
    const change = `curl -X PUT -H "X-API-Key: $KEY" -H "Content-Type: application/json" "http://127.0.0.1:8080/api/v4/monitors?id=1" -d '{"expected_code": 200}'`;
    await ask(newcomer.atHome(change));
    // The next planned check can be a minute away.
    const run = `curl -X POST -H "X-API-Key: $KEY" "http://127.0.0.1:8080/api/v4/monitors?action=run&id=1"`;
    await ask(newcomer.atHome(run));
    await expect.poll(read, MONITORED).toMatchObject({ status: "resolved" });
  },
  [`curl -H "X-API-Key: $KEY" -H "Content-Type: application/json" http://127.0.0.1:8080/api/v4/maintenance -d '{"title": "Updates", "monitor_ids": [1], "starts_at": "2030-01-06T02:00:00Z", "duration_seconds": 3600, "rrule": "FREQ=WEEKLY"}'`]:
    async (line) => {
      expect((await ask(line)).data).toMatchObject({ status: "scheduled", next_starts_at: "2030-01-06T02:00:00.000Z" });
    },
  'curl -H "X-API-Key: $KEY" "http://127.0.0.1:8080/api/v4/monitors?action=export"': async (line) => {
    expect((await ask(line)).data).toMatchObject({ version: 2, monitors: [{ name: "Shop" }] });
  },
  [`curl -H "X-API-Key: $KEY" -H "Content-Type: application/json" http://127.0.0.1:8080/api/v4/monitors -d '{"name": "Mail certificate", "url": "mail.example.com", "port": 465, "check_type": "ssl"}'`]:
    async (line) => {
      expect((await ask(line)).data).toMatchObject({ check_type: "ssl", port: 465, ssl_days: null });
    },
  [`curl -H "X-API-Key: $KEY" -H "Content-Type: application/json" http://127.0.0.1:8080/api/v4/monitors -d '{"name": "Our domain", "url": "example.com", "check_type": "domain", "interval_minutes": 60}'`]:
    async (line) => {
      expect((await ask(line)).data).toMatchObject({ check_type: "domain", interval_minutes: 60 });
    },
  [`curl -H "X-API-Key: $KEY" -H "Content-Type: application/json" http://127.0.0.1:8080/api/v4/monitors -d '{"name": "Backup", "check_type": "heartbeat", "heartbeat": {"cron": "30 2 * * *", "timezone": "Europe/Berlin", "grace_seconds": 900}}'`]:
    async (line) => {
      const made = (await ask(line)).data as unknown as { readonly heartbeat_url: string; readonly cron_line: string };
      expect(made.cron_line).toMatch(/^# .* CRON_TZ=Europe\/Berlin .*\n30 2 \* \* \* \/path\/to\/job; curl .*\/\$\?$/);
      const pinged = await fetch(newcomer.atHome(made.heartbeat_url));
      expect(await pinged.json()).toMatchObject({ status: "ok" });
    },
  [`curl -H "X-API-Key: $KEY" -H "Content-Type: application/json" http://127.0.0.1:8080/api/v4/status -d '{"title": "Example Shop", "slug": "example-shop", "monitors": [{"id": 1, "name": "Website"}]}'`]:
    async (line) => {
      expect((await ask(line)).data).toMatchObject({ slug: "example-shop", is_public: true });
    },
  [`curl -H "X-API-Key: $KEY" -H "Content-Type: application/json" http://127.0.0.1:8080/api/v4/webhooks -d '{"name": "On-call", "url": "https://hooks.example.com/vantage", "events": ["monitor.down", "monitor.up"]}'`]:
    async (line) => {
      const made = (await ask(line)).data;
      expect(made).toMatchObject({ name: "On-call", events: ["monitor.down", "monitor.up"] });
      expect(made.signing_secret).toMatch(/^whsec_/);
      // No event of a later line is to be sent anywhere.
      const remove = `curl -X DELETE -H "X-API-Key: $KEY" "http://127.0.0.1:8080/api/v4/webhooks?id=1"`;
      expect((await ask(newcomer.atHome(remove))).data).toMatchObject({ deleted: true });
    },
  ...clientCommands(() => newcomer),
  "deploy/vantage listen --secret-file ~/webhook-secret": async (line) => {
    writeFileSync(join(newcomer.home, "webhook-secret"), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n");
    // Its own port can be in use on the machine of a test.
    const running = newcomer.start(`${line} --port 0`);
    await running.says("Webhooks need HTTPS");
    expect(await running.end()).toBe(0);
  },
  "curl http://127.0.0.1:8080/status/example-shop": async (line) => {
    expect(await succeed(`${line} -sS`)).toContain("Example Shop");
  },
  'curl "http://127.0.0.1:8080/api/v4/status.php?slug=example-shop"': async (line) => {
    expect((await ask(line)).data).toMatchObject({ title: "Example Shop", monitors: [{ name: "Website" }] });
  },
  "deploy/vantage accounts audit-secret 1 > ~/audit-secret": async (line) => {
    expect(await succeed(line)).toBe("");
    expect(readFileSync(join(newcomer.home, "audit-secret"), "utf8")).toMatch(/^vas_[\w-]{43}\n\(audit secret /);
  },
  'curl -H "X-API-Key: $KEY" "http://127.0.0.1:8080/api/v4/audit-export?type=monitor&id=1" > ~/audit.json': async (
    line,
  ) => {
    await succeed(`${line} -sS --fail-with-body`);
  },
  "deploy/vantage verify-audit ~/audit.json --secret-file ~/audit-secret": async (line) => {
    expect(await succeed(line)).toMatch(/^Verified: .*\ntype: monitor\naccount_id: 1\n/);
  },
  'curl "http://127.0.0.1:8080/api/open/http-status?q=https://example.com"': async (line) => {
    expect(await succeed(`${line} -sS --fail-with-body`)).toMatch(/^code: 200$/m);
  },
  "curl http://127.0.0.1:8080/api/open": async (line) => {
    expect(await succeed(`${line} -sS`)).toContain("http-status");
  },
  'claude mcp add --transport http vantage http://127.0.0.1:8080/mcp --header "X-API-Key: $KEY"': async () => {
    const { url, header } = readMcpLine(newcomer.key);
    const [name = "", value = ""] = header.split(": ");
    const client = new Client({ name: "readme", version: "1.0.0" });
    const endpoint = new URL(newcomer.atHome(url));
    await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit: { headers: { [name]: value } } }));
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(["check_ssl", "get_batch"]));
    const call = { name: "check_http_status", arguments: { url: newcomer.atHome("https://example.com") } };
    expect((await client.callTool(call)).structuredContent).toMatchObject({ code: 200 });
    await client.close();
  },
  "deploy/vantage ssl example.com --key $KEY": async (line) => {
    expect(JSON.parse(await succeed(line))).toMatchObject({ trusted: true });
  },
  "VTG_API_KEY=$KEY deploy/vantage ping example.com --from all --latency": async (line) => {
    expect(await succeed(line)).toMatch(/^local {2}Average .* ms/);
  },
  "VTG_API_KEY=$KEY deploy/vantage check https://example.com --text": async (line) => {
    expect(await succeed(line)).toMatch(/answers 200 /);
  },
  'mkdir -p ~/.local/bin && ln -s "$PWD/deploy/vantage" ~/.local/bin/': async (line) => {
    await succeed(line);
    const link = join(newcomer.home, ".local/bin/vantage");
    expect(readlinkSync(link)).toBe(LAUNCHER_PATH);
    expect(await succeed(`cd / && PATH="$HOME/.local/bin:$PATH" vantage --version`)).toMatch(/^\d+\.\d+\.\d+\n$/);
  },
  "DATABASE_URL=postgres://vantage@db.example/vantage deploy/vantage migrate": async (line) => {
    expect(await succeed(line.replace(/postgres:\S+/, database.url))).toBe("Nothing to do.\n");
  },
  "DATABASE_URL=postgres://vantage@db.example/vantage deploy/vantage control-plane": async (line) => {
    const [http, grpc] = [await freePort(), await freePort()];
    const running = newcomer.start(line.replace(/postgres:\S+/, database.url), {
      VANTAGE_HTTP_ADDR: `127.0.0.1:${http}`,
      VANTAGE_GRPC_ADDR: `127.0.0.1:${grpc}`,
      VANTAGE_METRICS_ADDR: "off",
      VANTAGE_DATA_DIR: join(newcomer.home, "control-plane"),
    });
    await running.says("control plane listening");
    expect(await running.end()).toBe(0);
  },
  "deploy/vantage doctor": async (line) => {
    expect(await succeed(line)).toMatch(/^ok {4}ports: a control plane answers/m);
  },
  "deploy/vantage doctor --settings": async (line) => {
    expect(await succeed(line)).toMatch(/^VANTAGE_LOG_LEVEL \(both\): /m);
  },
  "deploy/vantage probes list": async (line) => {
    expect(await succeed(line)).toMatch(/^local-\w+ +local +online /m);
  },
  "deploy/vantage probes logs ID": async (line) => {
    const [id = ""] = /^local-\w+/m.exec(await succeed(line.replace("logs ID", "list"))) ?? [];
    expect(await succeed(line.replace("ID", id))).toContain('"msg":"attached"');
  },
  "deploy/vantage probes token --region us-east --ttl 1h --control-plane control-plane.example:50051": async (line) => {
    joining = await succeed(line);
    expect(joining).toMatch(/^vjt_/);
  },
  "VANTAGE_JOIN_TOKEN=vjt_... deploy/vantage agent --region us-east --control-plane control-plane.example:50051":
    async (line) => {
      const [token = ""] = joining.split("\n");
      // The line to paste is the document's: the control plane is on this machine here, so it names the launcher in full.
      const printed =
        joining
          .split("\n")
          .find((each) => each.startsWith("  VANTAGE_JOIN_TOKEN="))
          ?.trim() ?? "";
      expect(printed.replace(quoted(LAUNCHER_PATH), LAUNCHER)).toBe(line.replace("vjt_...", token));
      const running = newcomer.start(printed, { VANTAGE_AGENT_METRICS_ADDR: "off" });
      await running.says('"attached"');
      const bearer = { authorization: `Bearer ${newcomer.operatorToken}` };
      expect(await get("/api/admin/probes?status=online", bearer)).toContain('"region":"us-east"');
      expect(await running.end()).toBe(0);
    },
};

/** Addresses and requests in running text. */
const REQUESTS: Readonly<Record<string, Check>> = {
  "/docs": async (path) => expect(await get(path)).toContain("<html"),
  "/openapi.json": async (path) => expect(JSON.parse(await get(path))).toHaveProperty("openapi"),
  "/api/v4/tools": async () => {
    expect(await get("/api/v4/tools", { "x-api-key": newcomer.key })).toContain('"http-status"');
  },
  "/api/v4/ssl?host=example.com": async (path) => {
    const { port } = new URL(newcomer.atHome("https://example.com"));
    expect(await get(`${path}&port=${port}`, { "x-api-key": newcomer.key })).toContain('"trusted":true');
  },
  "/s/<id>": async (path) => {
    const line = 'curl -H "X-API-Key: $KEY" "http://127.0.0.1:8080/api/v4/http-status?url=https://example.com&share=1"';
    const { meta } = await ask(newcomer.atHome(line));
    expect(await get(path.replace("<id>", (meta as { share_id: string }).share_id))).toContain("200");
  },
  "/api/open/<tool>?q=": async () => {
    const asked = encodeURIComponent(newcomer.atHome("https://example.com"));
    for (const format of ["", "&format=json", "&format=csv"])
      expect(await get(`/api/open/http-status?q=${asked}${format}`)).toContain("200");
  },
  // By the line for MCP clients, above.
  "POST /mcp": async (line) => expect(readMcpLine(newcomer.key).url.endsWith(line.replace("POST ", ""))).toBe(true),
  "/api/v4/audit-export": async (path) => {
    const headers = { "x-api-key": newcomer.key };
    expect(JSON.parse(await get(`${path}?type=tenant`, headers))).toMatchObject({ data: { sig: { v: 1 } } });
  },
  "POST /api/admin/audit-verify": async (line) => {
    const url = newcomer.atHome(`http://127.0.0.1:8080${line.replace("POST ", "")}`);
    const headers = { authorization: `Bearer ${newcomer.operatorToken}`, "content-type": "application/json" };
    const body = await get("/api/v4/audit-export?type=tenant", { "x-api-key": newcomer.key });
    const verified = await (await fetch(url, { method: "POST", headers, body })).json();
    expect(verified).toMatchObject({ data: { valid: true, account_id: 1 } });
  },
  "/api/v4/account": async (path) => {
    expect(await get(path, { "x-api-key": newcomer.key })).toContain('"plan":"captain"');
  },
  "/api/v4/changes": async (path) => {
    const listed = await get(path, { "x-api-key": newcomer.key });
    expect(listed).toContain('"kind":"account"');
  },
  "/healthz": async () => expect(JSON.parse(await get("/healthz"))).toEqual({ status: "ok" }),
  "/readyz": async () => expect(JSON.parse(await get("/readyz"))).toMatchObject({ status: "ready", degraded: [] }),
  "127.0.0.1:9464/metrics": async (address) =>
    expectMetrics(await get(address), "vantage_http_request_duration_seconds"),
  "127.0.0.1:9465/metrics": async (address) => expectMetrics(await get(address), "vantage_agent_jobs_total"),
  "/api/admin/sd/probes": async () => {
    const listed = await get("/api/admin/sd/probes", { authorization: `Bearer ${newcomer.operatorToken}` });
    expect(JSON.parse(listed)[0]).toMatchObject({ labels: { __meta_vantage_region: "local" } });
  },
  "/api/admin/warnings": async (path) => {
    const listed = await get(path, { authorization: `Bearer ${newcomer.operatorToken}` });
    expect(JSON.parse(listed)).toMatchObject({ data: [] });
  },
  "/api/v4/metrics": async (path) => {
    // The newcomer can have no monitor yet.
    expect(await get(path, { authorization: `Bearer ${newcomer.key}` })).toMatch(/^$|^# HELP vantage_monitor_info /);
  },
  "/api/v4/probe?target=&module=&region=": async (line) => {
    const target = `target=${encodeURIComponent(newcomer.atHome("https://example.com"))}`;
    const path = line.replace("target=", target).replace("module=", "module=http_2xx");
    const authorization = `Bearer ${newcomer.key}`;
    expect(await get(path.replace("region=", "region=local"), { authorization })).toMatch(/^probe_success 1$/m);
  },
};

/** Every process shows its own figures under the standard names, what is running, and figures of its own. */
function expectMetrics(text: string, own: string): void {
  for (const name of ["process_cpu_seconds_total", "nodejs_eventloop_lag_seconds", "vantage_build_info", own])
    expect(text).toMatch(new RegExp(`^${name}(?:_count)?(?:\\{[^}]*\\})? [0-9]`, "m"));
}

const documents = readInstructions();
const missing = (written: readonly string[], known: object) => written.filter((line) => !Object.hasOwn(known, line));

describe("a document", () => {
  it("has no command, address or block that nothing here knows", () => {
    expect(missing(documents.commands, { ...COMMANDS, ...NOT_RUN })).toEqual([]);
    expect(missing(documents.requests, REQUESTS)).toEqual([]);
    const languages = documents.blocks.map(({ language }) => language);
    expect(missing(languages, BLOCKS)).toEqual([]);
  });

  it("still has every line that is tried here", () => {
    const written = Object.fromEntries([...documents.commands, ...documents.requests].map((line) => [line, true]));
    expect(missing(Object.keys({ ...COMMANDS, ...REQUESTS, ...NOT_RUN }), written)).toEqual([]);
  });
});

describe("every command of the documents does what it says", () => {
  it.each(Object.keys(COMMANDS))("%s", async (line) => {
    expect.hasAssertions();
    await COMMANDS[line]?.(newcomer.atHome(line));
  });
});

describe("every address of the documents answers", () => {
  it.each(Object.keys(REQUESTS))("%s", async (line) => {
    expect.hasAssertions();
    await REQUESTS[line]?.(line);
  });
});

describe("Ctrl-C", () => {
  it("stops everything", async () => {
    expect(await newcomer.interrupt()).toEqual({ status: 0, left: [] });
  });
});
