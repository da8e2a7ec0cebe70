import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import { createRedact, secretValues, unredacted, type Redact } from "#shared/text/redact.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { monitorWebsocket as contract } from "#shared/monitor-checks/monitor-websocket.ts";
import type { ParamsOf } from "#shared/tools/define.ts";
import { secureStream, type ServerTrust } from "#probe-agent/monitor-checks/server-trust.ts";
import { MOST_FRAME_BYTES, openMessages } from "#probe-agent/monitor-checks/websocket-messages.ts";
import { answerOverStream } from "#probe-agent/monitor-checks/stream-answer.ts";
import type { Stream, StreamHead } from "#probe-agent/port/stream.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { createHash } from "node:crypto";
import { headerElements, headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { quoted } from "#probe-agent/monitor-checks/octets.ts";

type Params = ParamsOf<typeof contract>;

/** Maximum number of octets of the heads of the handshake, which `readHead` limits. */
const MOST_HEAD_BYTES = 2 * 65_536;

/**
 * Opens a WebSocket, and waits for a message if one is expected. A redirect is not followed. Nothing is sent to a server
 * whose certificate is not trusted. Failures are those of Stream.
 */
export const monitorWebsocket = implement(contract, async (net, params) => {
  const startedAt = net.monotonic();
  const url = new URL(params.url);
  const redact = createRedact([...secretValues(params.headers ?? []), ...(params.send === null ? [] : [params.send])]);
  const maxBytes = MOST_HEAD_BYTES + MOST_FRAME_BYTES;
  const opened = await net.stream.open({ at: { url: url.href }, maxBytes, redact });
  if (opened.status !== "ok") return opened;
  const stream = opened.data;
  try {
    const secured = url.protocol === "https:" ? await secureStream(net, stream, ["http/1.1"]) : null;
    if (secured !== null && secured.status !== "ok") return secured;
    const trust = secured?.data ?? null;
    const ended = await talk(net, stream, params, trust);
    if (ended.status !== "ok") return ended;
    const responseMs = net.monotonic() - startedAt;
    const { code: httpStatus, examined } = ended.data;
    return ok(await answerOverStream(stream, { fault: examined, httpStatus, responseMs, trust }, params));
  } finally {
    stream.close();
  }
});

/** The status of the handshake, null if there is no answer, and what is wrong. */
interface Talked {
  readonly code: number | null;
  readonly examined: MonitorFault | null;
}

async function talk(net: Net, stream: Stream, params: Params, trust: ServerTrust | null): Promise<Outcome<Talked>> {
  if (trust !== null && trust.fault !== null) return ok({ code: null, examined: trust.fault });
  const { subprotocol, headers = [], send, expect } = params;
  const key = Buffer.from(net.random(KEY_BYTES)).toString("base64");
  stream.send(encodeUpgrade({ url: new URL(params.url), userAgent: net.stream.userAgent, key, subprotocol, headers }));
  const head = await stream.readHead();
  if ("status" in head) return head;
  const { code } = head;
  const refusal = examineUpgrade(head, { key, subprotocol }, stream.redact);
  if (refusal !== null) return ok({ code, examined: refusal });
  const messages = openMessages(stream, (count) => net.random(count));
  if (send !== null) messages.sendText(send);
  const found = expect === null ? ok(null) : await messages.find(expect);
  if (found.status !== "ok") return found;
  if (found.data === null) messages.bid();
  return ok({ code, examined: found.data });
}

/** The handshake of a client. */
interface Upgrade {
  readonly url: URL;
  readonly userAgent: string;
  /** 16 random octets in base64. */
  readonly key: string;
  readonly subprotocol: string | null;
  /** Fields that the user gave: they replace ours. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Octets of the random key of a handshake. */
const KEY_BYTES = 16;
/** Appended to the key (RFC 6455 section 1.3). */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/**
 * Encodes the request of a handshake, which offers no extensions (RFC 6455 section 4.1). Its Origin is that of the target,
 * as of a page of the same site: many servers refuse a handshake without one (section 10.2).
 */
function encodeUpgrade({ url, userAgent, key, subprotocol, headers }: Upgrade): Buffer {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  const own = [
    ["User-Agent", userAgent],
    ["Origin", url.origin],
  ].filter(([name = ""]) => !given.has(name.toLowerCase()));
  const lines = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    ...[...own, ...headers].map(([name, value]) => `${name}: ${value}`),
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Key: ${key}`,
    "Sec-WebSocket-Version: 13",
    ...(subprotocol === null ? [] : [`Sec-WebSocket-Protocol: ${subprotocol}`]),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

/** Returns why a response does not open a WebSocket; null if it does (RFC 6455 section 4.1). */
function examineUpgrade(
  { code, headers }: StreamHead,
  { key, subprotocol }: Pick<Upgrade, "key" | "subprotocol">,
  redact: Redact,
): MonitorFault | null {
  if (code !== 101) return fault("unexpected_status", `expected 101, got ${code}`);
  const isUpgrade = headerElements(headers, "upgrade").includes("websocket");
  if (!isUpgrade || !headerElements(headers, "connection").includes("upgrade")) {
    return fault("not_websocket", "the server switched to a protocol that is not WebSocket");
  }
  const accepts = headerValues(headers, "sec-websocket-accept").map((value) => value.trim());
  if (
    accepts.length !== 1 ||
    accepts[0] !==
      createHash("sha1")
        .update(key + GUID)
        .digest("base64")
  ) {
    return fault("wrong_accept_key", "Sec-WebSocket-Accept is not the answer to the key that was sent");
  }
  const extensions = headerValues(headers, "sec-websocket-extensions");
  if (extensions.some((value) => value.trim() !== "")) {
    return fault(
      "unwanted_extension",
      `the server uses extensions that were not offered: ${quoted(extensions.join(", "), redact)}`,
    );
  }
  return examineSubprotocol(headerValues(headers, "sec-websocket-protocol"), subprotocol, redact);
}

function examineSubprotocol(values: readonly string[], wanted: string | null, redact: Redact): MonitorFault | null {
  const chosen = values.length === 0 ? null : values.join(", ").trim();
  if (chosen === wanted) return null;
  if (chosen === null)
    return fault(
      "subprotocol_refused",
      `the server does not speak the subprotocol ${quoted(wanted ?? "", unredacted)}`,
    );
  const asked = wanted === null ? "none was asked for" : `${quoted(wanted, unredacted)} was asked for`;
  return fault("subprotocol_refused", `the server chose the subprotocol ${quoted(chosen, redact)}; ${asked}`);
}

function fault(reason: string, message: string): MonitorFault {
  return { stage: "response", reason, message };
}
