import { describe, expect, it } from "vitest";
import { gzipSync } from "node:zlib";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startHttpServer, type HttpServer, type HttpServerOptions, type SeenRequest } from "#test/servers/http.ts";
import { startWireServer, writeForever, type WireHandler } from "#test/servers/wire.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";
import { useExporters } from "#test/support/exporter.ts";
import { until } from "#test/support/until.ts";

// What Debian's exporter answers too is in test/lab/exporter-parity.test.ts. Here is what it does not do, or cannot show.
const open = useExporters();
const keep = closeAfterEach();

async function serve(options: HttpServerOptions = {}): Promise<HttpServer> {
  return keep(await startHttpServer(options));
}

async function wire(handler: WireHandler) {
  return keep(await startWireServer(handler));
}

/** Modules of one of the prober http. */
function web(options: object): object {
  return { m: { prober: "http", http: options } };
}

function fieldOf(request: SeenRequest | undefined, name: string): string | undefined {
  return request?.headers.find(([known]) => known.toLowerCase() === name)?.[1];
}

describe("credentials", () => {
  it("stay with the host that they are for, however often it redirects", async () => {
    const other = await serve();
    const first = await serve({
      handler(_request, response, { path }) {
        const to: Readonly<Record<string, string>> = { "/": "/again", "/again": `http://localhost:${other.port}/` };
        response.writeHead(307, { location: to[path] ?? "/" }).end();
        return true;
      },
    });
    const options = {
      method: "POST",
      body: "secret-body",
      headers: { "X-Api-Key": "k", Accept: "text/html" },
      basic_auth: { username: "u", password: "p" },
    };
    const exporter = await open(web(options));
    await exporter.probe({ module: "m", target: first.url });
    const basic = `Basic ${Buffer.from("u:p").toString("base64")}`;
    expect(first.requests.map((request) => fieldOf(request, "authorization"))).toEqual([basic, basic]);
    expect(first.requests.map(({ body }) => body)).toEqual(["secret-body", "secret-body"]);
    const [elsewhere] = other.requests;
    expect(fieldOf(elsewhere, "authorization")).toBeUndefined();
    expect(fieldOf(elsewhere, "x-api-key")).toBeUndefined();
    expect(fieldOf(elsewhere, "accept")).toBe("text/html");
    expect(elsewhere?.body).toBe("");
  });

  it("in a file are read at each probe, and are in no log", async () => {
    const server = await serve();
    const exporter = await open(web({}));
    const file = join(exporter.folder, "token");
    writeFileSync(file, "first-token\n");
    writeFileSync(exporter.configFile, JSON.stringify({ modules: web({ bearer_token_file: file }) }));
    exporter.reload();
    await exporter.probe({ module: "m", target: server.url });
    writeFileSync(file, "second-token\n");
    const { text } = await exporter.probe({ module: "m", target: server.url, debug: "true" });
    expect(server.requests.map((request) => fieldOf(request, "authorization"))).toEqual([
      "Bearer first-token",
      "Bearer second-token",
    ]);
    expect(text).toContain("Probe succeeded");
    expect(text).not.toContain("-token");
  });

  it("of OAuth 2.0 are sent as Basic, and in the form to a server that refuses that", async () => {
    const tokens = await serve({
      handler(_request, response, seen) {
        const form = new URLSearchParams(seen.body);
        const isGood = form.get("client_secret") === "s&cret";
        response.writeHead(isGood ? 200 : 401).end(isGood ? '{"access_token":"given","token_type":"bearer"}' : "");
        return true;
      },
    });
    const server = await serve();
    const oauth2 = {
      client_id: "id",
      client_secret: "s&cret",
      token_url: `${tokens.url}/token`,
      scopes: ["a", "b"],
      endpoint_params: { audience: "x" },
    };
    const exporter = await open(web({ oauth2 }));
    const answer = await exporter.probe({ module: "m", target: server.url });
    expect(answer.value("probe_success")).toBe(1);
    expect(fieldOf(server.requests[0], "authorization")).toBe("Bearer given");
    expect(fieldOf(tokens.requests[0], "authorization")).toBe(`Basic ${Buffer.from("id:s%26cret").toString("base64")}`);
    expect(Object.fromEntries(new URLSearchParams(tokens.requests[1]?.body))).toEqual({
      grant_type: "client_credentials",
      scope: "a b",
      audience: "x",
      client_id: "id",
      client_secret: "s&cret",
    });
  });

  it("of a proxy reach the proxy alone", async () => {
    const server = await serve();
    const proxy = await serve({
      handler(_request, response, { path }) {
        response.writeHead(200).end(path);
        return true;
      },
    });
    const options = { proxy_url: `http://user:pa%40ss@127.0.0.1:${proxy.port}` };
    const exporter = await open(web(options));
    const answer = await exporter.probe({ module: "m", target: `${server.url}/path` });
    expect(answer.value("probe_success")).toBe(1);
    expect(server.requests).toEqual([]);
    expect(proxy.requests[0]?.path).toBe(`${server.url}/path`);
    expect(fieldOf(proxy.requests[0], "proxy-authorization")).toBe(
      `Basic ${Buffer.from("user:pa@ss").toString("base64")}`,
    );
  });
});

describe("a hostile target", () => {
  it("cannot lead to a private address by a redirect", async () => {
    const inner = await serve({ host: "127.0.0.2" });
    const outer = await serve({
      handler(_request, response) {
        response.writeHead(302, { location: `http://127.0.0.2:${inner.port}/` }).end();
        return true;
      },
    });
    const exporter = await open(web({}), { allowTargets: ["127.0.0.1/32"] });
    const answer = await exporter.probe({ module: "m", target: outer.url });
    expect(answer.status).toBe(200);
    expect(answer.value("probe_success")).toBe(0);
    expect(inner.accepted()).toBe(0);
  });

  it("cannot lead to a name whose owner has opted out", async () => {
    const inner = await serve();
    const outer = await serve({
      handler(_request, response) {
        response.writeHead(302, { location: `http://localhost:${inner.port}/` }).end();
        return true;
      },
    });
    const exporter = await open(web({}), { denied: ["localhost"] });
    const answer = await exporter.probe({ module: "m", target: outer.url });
    expect([answer.status, answer.value("probe_success"), inner.accepted()]).toEqual([200, 0, 0]);
  });

  it("that sends without end is read until the limit of the module, or until the time is over", async () => {
    const server = await wire((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      writeForever(socket, "x".repeat(65_536));
    });
    const exporter = await open({
      limited: { prober: "http", http: { body_size_limit: "1MB" } },
      timed: { prober: "http", timeout: "300ms" },
    });
    const target = `http://127.0.0.1:${server.port}`;
    const limited = await exporter.probe({ module: "limited", target });
    expect(limited.value("probe_success")).toBe(0);
    expect(limited.value("probe_http_uncompressed_body_length")).toBe(1_048_576);
    const timed = await exporter.probe({ module: "timed", target });
    expect(timed.value("probe_success")).toBe(0);
    await until(() => server.open() === 0, "its connections end");
  });

  it("cannot hold an expression up with a long body: a thread matches it", async () => {
    const body = `${"a".repeat(3_000_000)}!`;
    const server = await serve({
      handler(_request, response) {
        response.writeHead(200).end(body);
        return true;
      },
    });
    const exporter = await open({
      end: { prober: "http", http: { fail_if_body_not_matches_regexp: ["a!$"] } },
      hostile: { prober: "http", http: { fail_if_body_matches_regexp: ["(a*)*b", "^(a|aa)+$"] } },
    });
    expect((await exporter.probe({ module: "end", target: server.url })).value("probe_success")).toBe(1);
    const hostile = await exporter.probe({ module: "hostile", target: server.url }, 60);
    expect(hostile.value("probe_success")).toBe(1);
    expect(exporter.faults).toEqual([]);
  });

  it("whose body inflates without measure is cut off", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const server = await serve({
      handler(_request, response) {
        response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
        return true;
      },
    });
    const exporter = await open(web({ compression: "gzip" }));
    const answer = await exporter.probe({ module: "m", target: server.url });
    expect(answer.value("probe_success")).toBe(0);
    expect(answer.value("probe_http_uncompressed_body_length")).toBeLessThan(32 * 1024 * 1024);
  });
});

it("a probe that nobody waits for any more ends with its scrape", async () => {
  const server = await wire(() => {});
  const exporter = await open(web({}));
  const scrape = new AbortController();
  const asking = exporter.ask(`/probe?module=m&target=127.0.0.1:${server.port}`, { signal: scrape.signal });
  await until(() => server.open() === 1, "the target is asked");
  scrape.abort();
  await expect(asking).rejects.toThrow("abort");
  await until(() => server.open() === 0, "the connection to the target ends");
});

it("a probe ends at the earlier of Prometheus' timeout and the module's", async () => {
  const server = await wire(() => {});
  const exporter = await open(
    { own: { prober: "http", timeout: "250ms" }, none: { prober: "http" } },
    { timeoutOffsetMs: 100 },
  );
  const target = `127.0.0.1:${server.port}`;
  const own = await exporter.probe({ module: "own", target }, 60);
  expect(own.value("probe_success")).toBe(0);
  const scrape = await exporter.probe({ module: "none", target, debug: "true" }, 0.35);
  expect(scrape.text).toContain("timeout_seconds=0.25");
  expect(scrape.text).toContain("probe_success 0\n");
});
