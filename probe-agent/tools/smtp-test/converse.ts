import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import { MAX_TRANSCRIPT, type Conversation, type TranscriptLine } from "#probe-agent/tools/smtp-test/conversation.ts";
import {
  advance,
  beginSession,
  type Phase,
  type SmtpAction,
  type SmtpEvent,
} from "#probe-agent/tools/smtp-test/session.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { SmtpAnswer, SmtpLink, SmtpTls } from "#probe-agent/port/smtp.ts";

/** Time reserved for the report, in milliseconds. */
const RESERVE_MS = 1_500;
/** Time limit of a reply, in milliseconds. The greeting has all remaining time, as some servers delay it on purpose. */
const ANSWER_MS = 10_000;
const GOODBYE_MS = 1_000;
const HANDSHAKE_MS = 10_000;

/** Talks to the server until QUIT, the end of the connection or the deadline. A null `servername` sends no SNI. */
export async function converse(
  net: Net,
  link: SmtpLink,
  { implicit, servername }: { readonly implicit: boolean; readonly servername: string | null },
): Promise<Conversation> {
  const startedAt = net.monotonic();
  const transcript: TranscriptLine[] = [];
  const note = (from: TranscriptLine["from"], text: string): void => {
    const line = { at_ms: toMicroseconds(net.monotonic() - startedAt), from, text };
    if (transcript.length >= MAX_TRANSCRIPT) return;
    transcript.push(line);
    net.emit({ kind: "line", data: line });
  };
  const timings: Partial<Record<Phase, number>> = {};
  let since = startedAt;
  let tls: SmtpTls | null = null;
  let loss: Conversation["loss"] = null;
  const secure = async (): Promise<SmtpEvent> => {
    tls = await link.secure(servername, Math.min(HANDSHAKE_MS, net.remainingMs() - RESERVE_MS));
    note("probe", describeTls(tls));
    if (!isEstablished(tls)) return { kind: "lost" };
    timings.starttls = net.monotonic() - since;
    return { kind: "secured" };
  };
  const perform = async (action: SmtpAction): Promise<SmtpEvent | null> => {
    if (action.kind === "end") return null;
    if (action.kind === "secure") return secure();
    // The time of TLS counts from the STARTTLS command.
    since = net.monotonic();
    note("client", link.send(action.verb));
    return readReply();
  };
  const readReply = async (): Promise<SmtpEvent> => {
    const { phase } = session;
    const answer = await link.read(replyTimeout(net, phase));
    if (answer.kind === "lost") {
      loss = { phase, loss: answer.loss, received: answer.received, bytes: answer.bytes };
      note("probe", describeLoss(answer));
      return { kind: "lost" };
    }
    if (phase !== "starttls") timings[phase] = net.monotonic() - since;
    const { code, lines } = answer.reply;
    for (const [index, text] of lines.entries())
      note("server", `${code}${index < lines.length - 1 ? "-" : " "}${text}`);
    return { kind: "reply", reply: answer.reply };
  };

  let session = beginSession(implicit);
  try {
    const opening = implicit ? await secure() : null;
    since = net.monotonic();
    let event: SmtpEvent | null = opening?.kind === "lost" ? opening : await readReply();
    while (event !== null) {
      const next = advance(session, event);
      session = next.session;
      event = await perform(next.action);
    }
  } finally {
    link.close();
  }
  return { session, implicit, tls, loss, timings, transcript };
}

/** Returns how long to wait for the reply of a phase, in milliseconds. */
function replyTimeout(net: Net, phase: Phase): number {
  const left = net.remainingMs() - RESERVE_MS;
  if (phase === "banner") return left;
  return Math.min(left, phase === "quit" ? GOODBYE_MS : ANSWER_MS);
}

/** Reports whether a TLS handshake completed. */
function isEstablished({ outcome }: SmtpTls): boolean {
  return outcome.status === "ok" && outcome.data.error === null;
}

function describeTls({ outcome, plaintext }: SmtpTls): string {
  const before = plaintext === null ? "" : `${plaintext.bytes} octets of clear text came before TLS; `;
  if (outcome.status === "failed") return `${before}TLS failed: ${outcome.message}`;
  if (outcome.status !== "ok") return `${before}TLS failed`;
  const { error, protocol, cipher } = outcome.data;
  return error === null ? `${before}${protocol ?? "TLS"}, ${cipher ?? ""}` : `${before}TLS failed: ${error.message}`;
}

function describeLoss({ loss, received }: Extract<SmtpAnswer, { kind: "lost" }>): string {
  return received === "" ? `no answer: ${loss}` : `no complete answer: ${loss}, after ${received}`;
}
