import { once } from "node:events";
import { createServer, request as sendRequest, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { examine } from "#shared/client/doctor/examine.ts";
import type { Finding } from "#shared/client/doctor/finding.ts";
import { ADMIN_TOKEN, startControlPlane } from "#test/support/control-plane.ts";
import { freePort } from "#test/support/free-port.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** What a proxy does wrong; without any it is right. */
interface Faults {
  readonly host?: string;
  readonly proto?: string;
  readonly noClient?: true;
  readonly buffers?: true;
  readonly mostBytes?: number;
  readonly http10?: true;
  readonly noAuthorization?: true;
  readonly broken?: true;
}

const plane = await stopAfterAll(startControlPlane({ config: { trustedProxies: ["127.0.0.1/32"] } }));
const own = new URL(plane.url);

/** Starts a proxy in front of the control plane. */
async function startProxy(faults: Faults) {
  const proxy = createServer((incoming, outgoing) => {
    void (async () => {
      const body = await buffer(incoming);
      if (faults.broken === true) return outgoing.writeHead(502).end("<h1>Bad Gateway</h1>");
      if (body.length > (faults.mostBytes ?? Infinity)) return outgoing.writeHead(413).end("<h1>Too large</h1>");
      const { authorization, host = "" } = incoming.headers;
      const headers = {
        "content-type": "application/json",
        "content-length": String(body.length),
        host: faults.host ?? host,
        ...(faults.noAuthorization === true || authorization === undefined ? {} : { authorization }),
        ...(faults.noClient === true ? {} : { "x-forwarded-for": "203.0.113.9" }),
        "x-forwarded-proto": faults.proto ?? "http",
      };
      if (faults.http10 === true) return void askOld(incoming.url ?? "/", headers, body).pipe(outgoing.socket as never);
      const sent = sendRequest({
        port: own.port,
        host: own.hostname,
        method: incoming.method,
        path: incoming.url,
        headers,
      });
      sent.end(body);
      const [answer] = (await once(sent, "response")) as [IncomingMessage];
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      if (faults.buffers === true) return outgoing.end(await buffer(answer));
      return void answer.pipe(outgoing);
    })();
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return { port: (proxy.address() as AddressInfo).port, close: () => void proxy.close() };
}

/** Sends a request as HTTP/1.0, on a connection of its own. */
function askOld(path: string, headers: Readonly<Record<string, string>>, body: Buffer) {
  const socket = connect(Number(own.port), own.hostname);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${path} HTTP/1.0\r\n${lines.join("")}\r\n`);
  socket.write(body);
  return socket;
}

async function examineWith(more: Readonly<Record<string, string | undefined>>): Promise<readonly Finding[]> {
  const environment = {
    VANTAGE_HTTP_ADDR: own.host,
    VANTAGE_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
    VANTAGE_METRICS_ADDR: "off",
    VANTAGE_AGENT_METRICS_ADDR: "off",
    VANTAGE_DNS_SERVERS: "127.0.0.1:1",
    VANTAGE_ADMIN_TOKEN: ADMIN_TOKEN,
    VANTAGE_TRUSTED_PROXIES: "127.0.0.1/32",
    ...more,
  };
  return examine({ environment, directory: "/nonexistent", now: () => new Date(), report: () => {} });
}

async function examineBehind(faults: Faults): Promise<readonly Pick<Finding, "level" | "message" | "todo">[]> {
  const proxy = await startProxy(faults);
  const findings = await examineWith({ VANTAGE_BASE_URL: `http://localhost:${proxy.port}` });
  proxy.close();
  return findings.filter(({ subject }) => subject === "base url");
}

describe("the proxy in front of a running service", () => {
  it("is right if requests and answers pass unchanged", async () => {
    expect(await examineBehind({})).toEqual([
      { level: "ok", subject: "base url", message: expect.stringMatching(/arrive as they were sent$/) },
    ]);
  });

  it.each<readonly [string, Faults, Finding["level"], RegExp, RegExp]>([
    ["changes the host", { host: "backend:8080" }, "fail", /arrive with the host backend:8080/, /Host/],
    ["names another scheme", { proto: "https" }, "warn", /http:\/\/ arrive as https/, /X-Forwarded-Proto/],
    [
      "hides its clients",
      { noClient: true },
      "warn",
      /address of the proxy, 127\.0\.0\.1/,
      /VANTAGE_TRUSTED_PROXIES=127\.0\.0\.1/,
    ],
    ["holds answers back", { buffers: true }, "warn", /holds answers back/, /proxy_buffering off/],
    [
      "refuses large bodies",
      { mostBytes: 1_048_576 },
      "warn",
      /no body of 8 MB \(it answers 413\)/,
      /client_max_body_size 9m/,
    ],
    ["speaks HTTP/1.0", { http10: true }, "warn", /HTTP\/1\.0/, /proxy_http_version 1\.1/],
    ["drops the Authorization field", { noAuthorization: true }, "fail", /answers 401/, /Authorization/],
    ["does not find the service", { broken: true }, "fail", /answers 502/, /VANTAGE_HTTP_ADDR/],
  ])("that %s is found, and what mends it", async (_name, faults, level, message, todo) => {
    expect(await examineBehind(faults)).toEqual([
      { level, subject: "base url", message: expect.stringMatching(message), todo: expect.stringMatching(todo) },
    ]);
  });

  it("that is not there, and a port that answers as somebody else, are found", async () => {
    const dead = `http://localhost:${await freePort()}`;
    expect(await examineWith({ VANTAGE_BASE_URL: dead })).toContainEqual(
      expect.objectContaining({
        level: "fail",
        subject: "base url",
        message: `${dead} does not answer (ECONNREFUSED)`,
      }),
    );
  });
});

describe("a running service", () => {
  it("that knows another operator token, or whose token cannot be read, is said not to be asked", async () => {
    const other = await examineWith({ VANTAGE_ADMIN_TOKEN: "another-token-of-another-service" });
    expect(other).toContainEqual(
      expect.objectContaining({ level: "fail", subject: "service", message: expect.stringContaining("answers 401") }),
    );
    const none = await examineWith({ VANTAGE_ADMIN_TOKEN: undefined });
    expect(none).toContainEqual(
      expect.objectContaining({
        level: "warn",
        subject: "service",
        message: expect.stringContaining("cannot be read"),
      }),
    );
  });
});
