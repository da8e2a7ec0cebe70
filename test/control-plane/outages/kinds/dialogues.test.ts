import { describe, expect, it } from "vitest";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import { hostOf } from "#control-plane/watching/evidence/cause-key.ts";
import { describeCause } from "#control-plane/outages/incidents/cause/describe.ts";
import { publicCause } from "#control-plane/outages/incidents/cause/public-cause.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { contractOf, kindOf } from "#control-plane/outages/kinds/kinds.ts";
import { failingOf, targetWith } from "#test/control-plane/outages/incidents/cause/cases.ts";

type Kind = "tcp" | "grpc" | "websocket";

/** What agents are asked, in the parts that the target and the options decide. The contract must take them. */
function asked(kind: Kind, url: string, options: object = {}): Readonly<Record<string, unknown>> {
  const { options: own, probe } = kindOf(kind);
  const read = own?.read(options, null, own.defaults(1));
  if (read?.ok !== true) throw new Error("the options cannot be read");
  const params = probe?.params(url, DEFAULT_SETTINGS, read.value) ?? {};
  const report = { timeout_seconds: 5, known: null, always_whole: false };
  const parsed = parseToolParams(contractOf(kind), { ...params, ...report }, { from: "strict", unknown: "refuse" });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problem));
  return params;
}

describe("the target of a tcp monitor", () => {
  it.each<[string, object, string, number]>([
    ["example.com:4222", {}, "example.com", 4_222],
    ["tcp://Example.COM.:80/", {}, "example.com", 80],
    ["example.com:443", {}, "example.com", 443],
    ["tcp://[2001:db8::1]:25", {}, "2001:db8::1", 25],
    ["mail.example.com", { preset: "smtp" }, "mail.example.com", 25],
    ["mail.example.com", { preset: "smtp", tls: "starttls" }, "mail.example.com", 25],
    ["mail.example.com", { preset: "smtp", tls: "implicit" }, "mail.example.com", 465],
    ["tcp://mail.example.com", { preset: "imap" }, "mail.example.com", 143],
    ["mail.example.com", { preset: "imap", tls: "implicit" }, "mail.example.com", 993],
    ["example.com", { preset: "ftp" }, "example.com", 21],
    ["example.com", { preset: "ftp", tls: "implicit" }, "example.com", 990],
    ["example.com", { preset: "ssh" }, "example.com", 22],
    ["example.com", { preset: "redis", tls: "implicit" }, "example.com", 6_379],
    ["example.com:2525", { preset: "smtp" }, "example.com", 2_525],
    ["mañana.example:1", {}, "xn--maana-pta.example", 1],
  ])("%s with %j is %s, port %i", (url, options, host, port) => {
    expect(asked("tcp", url, options)).toMatchObject({ host, port });
    expect(kindOf("tcp").target?.ruledPart(url)).toBe(host);
  });

  it.each(["http://example.com:1", "example.com:1/path", "user@example.com:1", "example.com:0", "a b:1", ""])(
    "%j is no target",
    (url) => {
      expect(kindOf("tcp").findConflict({ url } as never, null)).toMatchObject({ field: "url" });
    },
  );
});

describe("the bytes of a tcp monitor", () => {
  const conflict = (options: object) =>
    kindOf("tcp").findConflict({ url: "example.com:1080" } as never, {
      preset: null,
      send: null,
      send_hex: null,
      expect: null,
      tls: "none",
      ...options,
    });

  it.each<[object, string]>([
    [{ send_hex: "0" }, "must be bytes of two hexadecimal digits"],
    [{ send_hex: "0x05" }, "must be bytes of two hexadecimal digits"],
    [{ send_hex: "05", send: "a" }, "must be null with send"],
    [{ send_hex: "05", preset: "redis" }, "must be null with preset redis"],
  ])("%j are refused: %s", (options, message) => {
    expect(conflict(options)).toMatchObject({
      field: "tcp.send_hex",
      message: expect.stringContaining(message) as string,
    });
  });

  it("are digits in pairs, with white space between them", () => {
    for (const send_hex of ["0501ff", "05 01 FF\n", ""]) expect(conflict({ send_hex })).toBeNull();
  });
});

describe("the target of a grpc monitor", () => {
  it.each<[string, object, string, number, boolean]>([
    ["example.com:50051", {}, "example.com", 50_051, true],
    ["example.com:50051", { tls: false }, "example.com", 50_051, false],
    ["grpc://example.com:50051", {}, "example.com", 50_051, false],
    ["grpcs://example.com:50051", {}, "example.com", 50_051, true],
    ["grpcs://example.com", {}, "example.com", 443, true],
    ["grpc://example.com", {}, "example.com", 80, false],
  ])("%s with %j is %s, port %i, TLS %s", (url, options, host, port, tls) => {
    expect(asked("grpc", url, options)).toMatchObject({ host, port, tls });
  });

  it("names the certificate to watch where the scheme says that there is one", () => {
    const expiring = (url: string) =>
      kindOf("grpc")
        .expires(url, DEFAULT_SETTINGS, null)
        .map(({ target }) => target);
    expect(expiring("grpcs://example.com")).toEqual(["example.com:443"]);
    expect(expiring("grpcs://[2001:db8::1]:8443")).toEqual(["[2001:db8::1]:8443"]);
    expect(expiring("grpc://example.com")).toEqual([]);
  });
});

describe("the target of a websocket monitor", () => {
  it("is the URL of its handshake for agents, and its certificate is watched", () => {
    expect(asked("websocket", "wss://example.com/a?b")).toMatchObject({ url: "https://example.com/a?b" });
    expect(asked("websocket", "WS://example.com:81/")).toMatchObject({ url: "http://example.com:81/" });
    const expiring = (url: string) =>
      kindOf("websocket")
        .expires(url, DEFAULT_SETTINGS, null)
        .map(({ target }) => target);
    expect(expiring("wss://example.com/a")).toEqual(["example.com:443"]);
    expect(expiring("ws://example.com/a")).toEqual([]);
  });

  it.each(["Sec-WebSocket-Key", "sec-websocket-protocol", "Send"])("takes no header field %s", (name) => {
    const draft = { url: "wss://example.com/", request_headers: { [name]: "a" } };
    const problem = { field: `request_headers.${name}`, reason: "unknown" };
    expect(kindOf("websocket").findConflict(draft as never, null)).toMatchObject(problem);
    expect(kindOf("websocket").findConflict({ ...draft, request_headers: { Origin: "a" } } as never, null)).toBeNull();
  });
});

describe("the certificate that is watched", () => {
  const watched = (checkType: string, url: string, options: object | null) =>
    kindOf(checkType)
      .expires(url, DEFAULT_SETTINGS, options)
      .map(({ target }) => target);

  it("is that of a server under TLS, at the port of the check", () => {
    const tcp = { preset: null, send: null, expect: null };
    expect(watched("tcp", "mail.example.com", { ...tcp, preset: "imap", tls: "implicit" })).toEqual([
      "mail.example.com:993",
    ]);
    expect(watched("tcp", "[2001:db8::1]:9", { ...tcp, tls: "implicit" })).toEqual(["[2001:db8::1]:9"]);
    expect(watched("tcp", "mail.example.com", { ...tcp, preset: "smtp", tls: "starttls" })).toEqual([]);
    const grpc = { service: null, metadata: {} };
    expect(watched("grpc", "api.example.com:50051", { ...grpc, tls: null })).toEqual(["api.example.com:50051"]);
    expect(watched("grpc", "api.example.com:50051", { ...grpc, tls: false })).toEqual([]);
    expect(watched("grpc", "grpcs://api.example.com", { ...grpc, tls: null })).toEqual(["api.example.com:443"]);
  });
});

describe("options", () => {
  it("keep their parts in a change, and null restores the defaults", () => {
    const { options } = kindOf("tcp");
    const present = { preset: "smtp", send: null, expect: null, tls: "starttls", send_limited: false };
    const read = (given: unknown) => options?.read(given, present, options.defaults(1));
    expect(read({ tls: "none" })).toEqual({ ok: true, value: { ...present, tls: "none" } });
    expect(read(null)).toEqual({
      ok: true,
      value: { preset: null, send: null, send_hex: null, expect: null, tls: "none", send_limited: false },
    });
    expect(options?.isNewStart(present, { ...present, tls: "none" })).toBe(true);
    expect(options?.isNewStart(present, { ...present })).toBe(false);
  });
});

describe("evidence", () => {
  it.each([
    ["tcp", "tcp://Mail.example.com:25"],
    ["tcp", "mail.example.com:25"],
    ["grpc", "grpcs://mail.example.com"],
    ["websocket", "wss://mail.example.com/a"],
  ])("of a %s monitor is about the host of %s", (checkType, url) => {
    expect(hostOf({ checkType, url })).toBe("mail.example.com");
  });
});

describe("the cause of an outage", () => {
  it.each<[Kind, string, "connect" | "dns" | "tls" | "response", string, string, string, string]>([
    [
      "tcp",
      "tcp://a.example:25",
      "connect",
      "refused",
      "192.0.2.1:25: x",
      "connect_refused",
      "Connection refused from eu-west (port 25)",
    ],
    ["tcp", "tcp://a.example:25", "dns", "nxdomain", "x", "dns_nxdomain", "DNS: NXDOMAIN for a.example from eu-west"],
    [
      "tcp",
      "a.example:25",
      "response",
      "unexpected_answer",
      '220 expected, the server said "554 no"',
      "response_unexpected_answer",
      'Unexpected answer from eu-west: 220 expected, the server said "554 no"',
    ],
    [
      "tcp",
      "a.example:25",
      "response",
      "closed",
      'the server closed the connection before "+PONG" was found',
      "response_closed",
      'Expected answer missing from eu-west: the server closed the connection before "+PONG" was found',
    ],
    [
      "tcp",
      "a.example:25",
      "response",
      "text_missing",
      'the server sent 64 KB without "ready"',
      "response_text_missing",
      'Expected answer missing from eu-west: the server sent 64 KB without "ready"',
    ],
    ["tcp", "a.example:25", "tls", "no_starttls", "x", "tls_no_starttls", "STARTTLS not offered from eu-west"],
    [
      "tcp",
      "a.example:25",
      "tls",
      "expired",
      "The certificate expired on x",
      "tls_certificate_expired",
      "Certificate not trusted from eu-west: The certificate expired on x",
    ],
    [
      "grpc",
      "grpc://a.example:1",
      "response",
      "not_serving",
      "the server is NOT_SERVING",
      "response_not_serving",
      "Health check failed from eu-west: the server is NOT_SERVING",
    ],
    [
      "grpc",
      "grpc://a.example:1",
      "response",
      "grpc_unimplemented",
      "the server has no health service (grpc.health.v1)",
      "response_grpc_unimplemented",
      "Health check failed from eu-west: the server has no health service (grpc.health.v1)",
    ],
    ["grpc", "grpc://a.example:1", "tls", "no_http2", "x", "tls_no_http2", "HTTP/2 not offered from eu-west"],
    ["grpc", "grpc://a.example:1", "response", "timeout", "x", "timeout", "No answer within 15 s from eu-west"],
    [
      "websocket",
      "wss://a.example/",
      "response",
      "unexpected_status",
      "expected 101, got 403",
      "http_status",
      "HTTP 403 instead of 101 from eu-west",
    ],
    [
      "websocket",
      "wss://a.example/",
      "response",
      "wrong_accept_key",
      "x",
      "response_wrong_accept_key",
      "WebSocket handshake failed from eu-west: x",
    ],
    [
      "websocket",
      "wss://a.example/",
      "response",
      "websocket_closed",
      "the server closed the WebSocket with code 1008",
      "response_websocket_closed",
      "WebSocket closed from eu-west: the server closed the WebSocket with code 1008",
    ],
    [
      "websocket",
      "ws://a.example/",
      "connect",
      "refused",
      "x",
      "connect_refused",
      "Connection refused from eu-west (port 80)",
    ],
  ])("of a %s monitor of %s, %s %s (%s) is %s", (checkType, url, stage, reason, message, code, sentence) => {
    const cause = describeCause(targetWith({ checkType, url }), failingOf([["eu-west", stage, reason, message]]));
    expect(cause).toEqual({ code, message: sentence });
  });

  it("is the same with other words of the server", () => {
    const words = (said: string) =>
      ["response", "unexpected_answer", `220 expected, the server said "${said}"`] as const;
    const failing = failingOf([
      ["eu-west", ...words("421 id 1")],
      ["us-east", ...words("421 id 2")],
    ]);
    expect(describeCause(targetWith({ checkType: "tcp", url: "a.example:25" }), failing).message).toBe(
      'Unexpected answer from eu-west and us-east: 220 expected, the server said "421 id 1"',
    );
  });

  it.each([
    ["response_unexpected_answer", "The service answers with an error"],
    ["response_not_serving", "The service answers with an error"],
    ["response_websocket_closed", "The service answers with an error"],
    ["response_closed", "The service does not answer"],
    ["tls_no_starttls", "The service does not answer"],
  ])("%s has words for strangers", (code, words) => {
    expect(publicCause(code)).toBe(words);
  });
});
