import { describe, expect, it } from "vitest";
import type { GrpcOptions } from "#shared/blackbox/module.ts";
import { probeGrpc } from "#probe-agent/exporter/probe-grpc.ts";
import { startGrpcServer } from "#test/servers/grpc-health.ts";
import { fieldBlock, frame, startFrameServer, word } from "#test/servers/h2-frames.ts";
import { createPki } from "#test/servers/pki.ts";
import { startWireServer } from "#test/servers/wire.ts";
import { NO_TLS } from "#test/probe-agent/exporter/recorded-probe.ts";
import { named, runProber } from "#test/probe-agent/exporter/run-prober.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";
import { freePort } from "#test/support/free-port.ts";
import { identityOf } from "#test/support/http-engine.ts";

const keep = closeAfterEach();
const pki = await createPki();
const leaf = await pki.issue({ dns: ["localhost"] });
const tls = identityOf(leaf, pki.intermediate);
const OPTIONS: GrpcOptions = {
  preferred_ip_protocol: "ip4",
  ip_protocol_fallback: true,
  service: "",
  tls: false,
  tls_config: { ...NO_TLS, ca: { text: pki.root.pem } },
};

const probe = (target: string, options: Partial<GrpcOptions> = {}, context: Parameters<typeof runProber>[3] = {}) =>
  runProber(probeGrpc, target, { ...OPTIONS, ...options }, context);

const serve = async (...given: Parameters<typeof startGrpcServer>) => keep(await startGrpcServer(...given));

/** The verdict, the status code and the statuses of the service that are 1. */
async function outcome(...given: Parameters<typeof probe>): Promise<string> {
  const probed = await probe(...given);
  const statuses = named(probed, "probe_grpc_healthcheck_response").filter((line) => line.endsWith(" 1"));
  const shown = statuses.map((line) => /serving_status="(.*)"/.exec(line)?.[1] ?? line);
  return [probed.verdict, named(probed, "probe_grpc_status_code")[0]?.split(" ")[1], ...shown].join(" ");
}

describe("a health service", () => {
  it("that serves is a success, with the metrics of the exporter", async () => {
    const server = await serve(1);
    const { verdict, text } = await probe(`127.0.0.1:${server.port}`);
    expect(verdict).toBe("success");
    expect(text.replaceAll(/(phase="\w+"|lookup_time_seconds)(\}?) [\d.e-]+$/gm, "$1$2 TIME")).toBe(
      `# HELP probe_dns_lookup_time_seconds Returns the time taken for probe dns lookup in seconds
# TYPE probe_dns_lookup_time_seconds gauge
probe_dns_lookup_time_seconds TIME
# HELP probe_grpc_duration_seconds Duration of gRPC request by phase
# TYPE probe_grpc_duration_seconds gauge
probe_grpc_duration_seconds{phase="check"} TIME
probe_grpc_duration_seconds{phase="resolve"} TIME
# HELP probe_grpc_healthcheck_response Response HealthCheck response
# TYPE probe_grpc_healthcheck_response gauge
probe_grpc_healthcheck_response{serving_status="NOT_SERVING"} 0
probe_grpc_healthcheck_response{serving_status="SERVICE_UNKNOWN"} 0
probe_grpc_healthcheck_response{serving_status="SERVING"} 1
probe_grpc_healthcheck_response{serving_status="UNKNOWN"} 0
# HELP probe_grpc_ssl Indicates if SSL was used for the connection
# TYPE probe_grpc_ssl gauge
probe_grpc_ssl 0
# HELP probe_grpc_status_code Response gRPC status code
# TYPE probe_grpc_status_code gauge
probe_grpc_status_code 0
# HELP probe_ip_addr_hash Specifies the hash of IP address. It's useful to detect if the IP address changes.
# TYPE probe_ip_addr_hash gauge
probe_ip_addr_hash 3.668918509e+09
# HELP probe_ip_protocol Specifies whether probe ip protocol is IP4 or IP6
# TYPE probe_ip_protocol gauge
probe_ip_protocol 4
# HELP probe_ssl_earliest_cert_expiry Returns last SSL chain expiry in unixtime
# TYPE probe_ssl_earliest_cert_expiry gauge
probe_ssl_earliest_cert_expiry 0
`,
    );
  });

  it.each([
    ["UNKNOWN", 0, "failure 0 UNKNOWN"],
    ["NOT_SERVING", 2, "failure 0 NOT_SERVING"],
    ["SERVICE_UNKNOWN", 3, "failure 0 SERVICE_UNKNOWN"],
    ["a status that nobody knows", 9, "failure 0 9"],
    ["NOT_FOUND", { code: 5, details: "unknown service" }, "failure 5"],
    ["UNAVAILABLE", { code: 14, details: "" }, "failure 14"],
  ])("that says %s is a failure", async (_what, health, wanted) => {
    const server = await serve(health);
    expect(await outcome(`127.0.0.1:${server.port}`)).toBe(wanted);
  });

  it("that a server does not have is a failure", async () => {
    const server = await serve(1, { path: "/other.Health/Check" });
    expect(await outcome(`127.0.0.1:${server.port}`)).toBe("failure 12");
  });

  it("is asked about the module's service, at any form of a target", async () => {
    const server = await serve(1);
    const { port } = server;
    for (const target of [`localhost:${port}`, `http://localhost:${port}/path?query`, `https://u@127.0.0.1:${port}`]) {
      expect(await outcome(target, { service: "shop.Cart" })).toBe("success 0 SERVING");
    }
    expect(server.requests.map(({ service }) => service)).toEqual(["shop.Cart", "shop.Cart", "shop.Cart"]);
    expect(server.requests[0]?.metadata["user-agent"]).toContain("test");
  });

  it("over TLS has the metrics of TLS without those of the chain, if it answers", async () => {
    const server = await serve(2, { tls });
    const probed = await probe(`localhost:${server.port}`, { tls: true });
    expect(named(probed, "probe_grpc_ssl", "probe_tls_")).toEqual([
      "probe_grpc_ssl 1",
      'probe_tls_version_info{version="TLS 1.3"} 1',
    ]);
    expect(named(probed, "probe_ssl_").map((line) => line.split(/[ {]/)[0])).toEqual([
      "probe_ssl_earliest_cert_expiry",
      "probe_ssl_last_chain_info",
    ]);
    server.say({ code: 5, details: "unknown service" });
    const unknown = await probe(`localhost:${server.port}`, { tls: true });
    expect(named(unknown, "probe_grpc_ssl", "probe_grpc_status", "probe_ssl_", "probe_tls_")).toEqual([
      "probe_grpc_ssl 0",
      "probe_grpc_status_code 5",
      "probe_ssl_earliest_cert_expiry 0",
    ]);
  });
});

describe("without an answer", () => {
  it("the code is UNAVAILABLE where no connection or no TLS is to be had", async () => {
    expect(await outcome(`127.0.0.1:${await freePort()}`)).toBe("failure 14");
    expect(await outcome("127.0.0.1:99999")).toBe("failure 14");
    const plain = await serve(1);
    expect(await outcome(`localhost:${plain.port}`, { tls: true })).toBe("failure 14");
    const secure = await serve(1, { tls });
    expect(await outcome(`localhost:${secure.port}`)).toBe("failure 14");
    expect(await outcome(`127.0.0.1:${secure.port}`, { tls: true })).toBe("failure 14");
  });

  it("the code is UNAVAILABLE where another protocol is spoken or the server goes away", async () => {
    const http = keep(await startWireServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    expect(await outcome(`127.0.0.1:${http.port}`)).toBe("failure 14");
    const gone = keep(await startWireServer(""));
    expect(await outcome(`127.0.0.1:${gone.port}`)).toBe("failure 14");
  });

  it("the code is DEADLINE_EXCEEDED where the server is silent until then, in the clear and under TLS", async () => {
    const silent = keep(await startWireServer(() => undefined));
    expect(await outcome(`127.0.0.1:${silent.port}`, {}, { timeoutMs: 300 })).toBe("failure 4");
    const secure = keep(await startFrameServer(() => undefined, tls));
    expect(await outcome(secure.url.replace("127.0.0.1", "localhost"), { tls: true }, { timeoutMs: 1000 })).toBe(
      "failure 4",
    );
  });

  it.each([
    ["a target that is no URL", "a b:1", {}],
    ["a file that does not exist", "127.0.0.1:1", { tls_config: { ...NO_TLS, ca: { file: "/nonexistent" } } }],
  ])("%s leaves the metrics without a check", async (_what, target, options) => {
    const { verdict, lines } = await probe(target, options);
    expect(verdict).toBe("failure");
    expect(lines).toEqual([
      'probe_grpc_duration_seconds{phase="resolve"} 0',
      "probe_grpc_ssl 0",
      "probe_grpc_status_code 0",
      "probe_ssl_earliest_cert_expiry 0",
    ]);
  });

  it("a name without an address leaves them with those of the address", async () => {
    const { verdict, lines } = await probe("nothing.invalid:1");
    expect(verdict).toBe("failure");
    expect(lines).toHaveLength(7);
  });

  it("a target that is not allowed is refused", async () => {
    const server = await serve(1);
    expect(await outcome(`127.0.0.1:${server.port}`, {}, { allows: () => false })).toBe("refused 0");
    expect(server.requests).toEqual([]);
  });
});

/** Frames of an answer: the fields of its head and its trailers, and the body. */
const GRPC = { "content-type": "application/grpc" };
const head = (fields: Readonly<Record<string, string>>, status = "200", end = false) =>
  frame("headers", end ? 5 : 4, 1, fieldBlock({ ":status": status, ...fields }));
const body = (octets: readonly number[], end = false) => frame("data", end ? 1 : 0, 1, Buffer.from(octets));
const trailers = (fields: Readonly<Record<string, string>>) => frame("headers", 5, 1, fieldBlock(fields));
const SERVING = [0, 0, 0, 0, 2, 8, 1];
const reset = (code: number) => frame("rst_stream", 0, 1, word(code));
const OK = trailers({ "grpc-status": "0" });

describe("an answer", () => {
  // The codes are those of Debian's prometheus-blackbox-exporter 0.23.0 for the same answers.
  it.each([
    ["that serves", [head(GRPC), body(SERVING), OK], "success 0 SERVING"],
    ["with the code in the head", [head({ ...GRPC, "grpc-status": "7" }, "200", true)], "failure 7"],
    ["with OK in the head and nothing else", [head({ ...GRPC, "grpc-status": "0" }, "200", true)], "failure 2"],
    [
      "with a code in the head and another one at the end",
      [head({ ...GRPC, "grpc-status": "7" }), body(SERVING), OK],
      "success 0 SERVING",
    ],
    ["with a code that nobody knows", [head(GRPC), body(SERVING), trailers({ "grpc-status": "99" })], "failure 99"],
    ["with a code that is no number", [head(GRPC), body(SERVING), trailers({ "grpc-status": "abc" })], "failure 13"],
    ["without trailers", [head(GRPC), body(SERVING, true)], "failure 13"],
    ["without a message", [head(GRPC), OK], "failure 2"],
    ["with two messages", [head(GRPC), body([...SERVING, ...SERVING]), OK], "failure 2"],
    ["with a part of a message", [head(GRPC), body([0, 0, 0, 0, 9, 8, 1]), OK], "failure 13"],
    ["with a compressed message", [head(GRPC), body([1, 0, 0, 0, 2, 8, 1]), OK], "failure 13"],
    ["with a message of another kind", [head(GRPC), body([0, 0, 0, 0, 2, 0xff, 0xff]), OK], "failure 13"],
    ["with a message that is too large", [head(GRPC), body([0, 0x7f, 0, 0, 0]), OK], "failure 8"],
    ["of another type", [head({ "content-type": "application/json" }), body(SERVING), OK], "failure 2"],
    ["of HTTP that is 404", [head({}, "404", true)], "failure 12"],
    ["of HTTP that is 503", [head({}, "503", true)], "failure 14"],
    ["that is reset with CANCEL", [reset(8)], "failure 1"],
    ["that is reset with REFUSED_STREAM", [reset(7)], "failure 14"],
    ["that is reset with PROTOCOL_ERROR after its head", [head(GRPC), reset(1)], "failure 13"],
    ["that is reset with ENHANCE_YOUR_CALM", [reset(11)], "failure 8"],
  ])("%s", async (_which, frames, wanted) => {
    const server = keep(await startFrameServer((socket) => void socket.write(Buffer.concat(frames)), null));
    expect(await outcome(server.url)).toBe(wanted);
  });
});
