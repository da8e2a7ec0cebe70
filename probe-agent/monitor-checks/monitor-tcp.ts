import { failed, ok, type Failed, type Outcome } from "#shared/contracts/outcome.ts";
import { createRedact } from "#shared/text/redact.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import {
  isSendLimited,
  monitorTcp as contract,
  MOST_SEARCHED_BYTES,
  sentOctets,
} from "#shared/monitor-checks/monitor-tcp.ts";
import type { ParamsOf } from "#shared/tools/define.ts";
import { secureStream, type ServerTrust } from "#probe-agent/monitor-checks/server-trust.ts";
import { answerOverStream } from "#probe-agent/monitor-checks/stream-answer.ts";
import {
  DIALOGUES,
  createTalk,
  type DialogueEnd,
  type Heard,
  type Talk,
} from "#probe-agent/monitor-checks/tcp-presets.ts";
import type { Stream } from "#probe-agent/port/stream.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { implement } from "#probe-agent/tools/implement.ts";

type Params = ParamsOf<typeof contract>;

/**
 * Connects to a server and talks to it. Nothing is sent under TLS to a server whose certificate is not trusted. A server
 * that does not answer to the end of the dialogue (closed, reset, timeout) is a failure.
 */
export const monitorTcp = implement(contract, async (net, params) => {
  const startedAt = net.monotonic();
  const { host, port } = params;
  const sent = sentOctets(params);
  const isListedOnly = params.send_limited === true && sent !== null && isSendLimited(port);
  const redact = createRedact(sent === null ? [] : [sent]);
  const opened = await net.stream.open({ at: { host, port }, maxBytes: MOST_SEARCHED_BYTES, redact, isListedOnly });
  if (opened.status === "refused" && isListedOnly) return notListed(port);
  if (opened.status !== "ok") return opened;
  const stream = opened.data;
  try {
    const secured: Secured = { trust: null };
    const ended = outcomeOf(await converse(net, stream, params, secured));
    if (ended.status !== "ok") return ended;
    const responseMs = net.monotonic() - startedAt;
    const { trust } = secured;
    return ok(await answerOverStream(stream, { fault: ended.data, httpStatus: null, responseMs, trust }, params));
  } finally {
    stream.close();
  }
});

function notListed(port: number): Failed {
  const message = `a text is sent to port ${port} only within the ranges that the operator allows (VANTAGE_ALLOW_TARGETS)`;
  return failed("connect", "target", "target_not_allowed", message);
}

/** Set when TLS has begun. */
interface Secured {
  trust: ServerTrust | null;
}

async function converse(net: Net, stream: Stream, params: Params, secured: Secured): Promise<DialogueEnd | null> {
  const { preset, expect, tls } = params;
  const startTls = async (before: Talk | null): Promise<Heard<Talk>> => {
    const early = before?.unread() ?? 0;
    if (early > 0) return { kind: "fault", fault: injected(early) };
    const outcome = await secureStream(net, stream);
    if (outcome.status === "failed") return { kind: "failed", failure: outcome };
    if (outcome.status !== "ok") throw new Error(`TLS on an open connection is ${outcome.status}`);
    secured.trust = outcome.data;
    const { fault } = outcome.data;
    return fault === null ? { kind: "heard", value: createTalk(stream) } : { kind: "fault", fault };
  };
  const begun: Heard<Talk> = tls === "implicit" ? await startTls(null) : { kind: "heard", value: createTalk(stream) };
  if (begun.kind !== "heard") return begun;
  const talk = begun.value;
  if (preset !== null) {
    const context = { startTls: tls === "starttls" ? startTls : null, localAddress: stream.localAddress };
    return await DIALOGUES[preset](talk, context);
  }
  const sent = sentOctets(params);
  if (sent !== null) talk.say(sent);
  if (expect === null) return null;
  const found = await talk.find(expect);
  return found.kind === "heard" ? null : found.kind === "failed" ? hintAtLineEnd(found, sent) : found;
}

const LF = 10;

/** Says of a server that waits for more that the text has no end of a line: most protocols of text wait for one. */
function hintAtLineEnd({ failure }: Extract<DialogueEnd, { kind: "failed" }>, sent: Buffer | null): DialogueEnd {
  const isHint = failure.reason === "timeout" && sent !== null && sent.at(-1) !== LF;
  const hint = "; the text that was sent has no line end (\\r\\n), for which many servers wait";
  return { kind: "failed", failure: isHint ? { ...failure, message: `${failure.message}${hint}` } : failure };
}

/**
 * The fault of clear text between the answer to STARTTLS and TLS: an attacker can put it there, and a client that took it
 * for an answer under TLS would believe it.
 */
function injected(bytes: number): MonitorFault {
  const count = bytes === 1 ? "1 byte" : `${bytes} bytes`;
  const message = `the server sent ${count} in clear text after its answer to STARTTLS, before TLS began`;
  return { stage: "tls", reason: "starttls_injection", message };
}

function outcomeOf(ended: DialogueEnd | null): Outcome<MonitorFault | null> {
  if (ended === null) return ok(null);
  return ended.kind === "fault" ? ok(ended.fault) : ended.failure;
}
