import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import { createRedact, secretValues } from "#shared/text/redact.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { monitorWebsocket as contract } from "#shared/monitor-checks/monitor-websocket.ts";
import type { ParamsOf } from "#shared/tools/define.ts";
import { secureStream, type ServerTrust } from "#probe-agent/monitor-checks/server-trust.ts";
import { MOST_FRAME_BYTES, openMessages } from "#probe-agent/monitor-checks/websocket/messages.ts";
import { encodeUpgrade, examineUpgrade, KEY_BYTES } from "#probe-agent/monitor-checks/websocket/upgrade.ts";
import { answerOverStream } from "#probe-agent/monitor-checks/stream-answer.ts";
import type { Stream } from "#probe-agent/port/stream.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { implement } from "#probe-agent/tools/implement.ts";

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
    const { code: httpStatus, examined: fault } = ended.data;
    return ok(await answerOverStream(stream, { fault, httpStatus, responseMs, trust }, params));
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
