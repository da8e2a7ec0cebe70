import { isIPv6 } from "node:net";
import type { TCP_PRESETS } from "#shared/monitor-checks/monitor-tcp.ts";
import { quoted, decodeText, octetForms } from "#probe-agent/monitor-checks/octets.ts";
import { failed, type Failed } from "#shared/contracts/outcome.ts";
import { unredacted, type Redact } from "#shared/text/redact.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import type { Stream, StreamEnd } from "#probe-agent/port/stream.ts";

/** Starts TLS within a dialogue. Returns the conversation under TLS, or why there is none. */
type StartTls = (before: Talk) => Promise<Heard<Talk>>;

/** What a dialogue needs beside the conversation. */
interface DialogueContext {
  /** null: the dialogue starts no TLS. */
  readonly startTls: StartTls | null;
  /** Address of our end. */
  readonly localAddress: string;
}

/** Talks to a server as a client of its protocol. null: the server answered as it should. */
type Dialogue = (talk: Talk, context: DialogueContext) => Promise<DialogueEnd | null>;

/** The dialogues, which end before anything is signed in to, or sent. */
export const DIALOGUES: Readonly<Record<(typeof TCP_PRESETS)[number], Dialogue>> = { smtp, imap, ftp, ssh, redis };

/** RFC 5321 section 3.1, RFC 3207 section 4.2. */
async function smtp(talk: Talk, { startTls, localAddress }: DialogueContext): Promise<DialogueEnd | null> {
  const greeted = await replyOf(talk, "220", "220");
  if (greeted.kind !== "heard") return greeted;
  const name = isIPv6(localAddress) ? `[IPv6:${localAddress}]` : `[${localAddress}]`;
  const introduce = (to: Talk): Promise<Heard<readonly string[]>> => ask(to, `EHLO ${name}`, "250", "250 to EHLO");
  const answered = await introduce(talk);
  if (answered.kind !== "heard") return answered;
  let last = talk;
  if (startTls !== null) {
    if (!answered.value.some((line) => /^\d{3}[ -]STARTTLS\b/i.test(line))) return NO_STARTTLS;
    const ready = await ask(talk, "STARTTLS", "220", "220 to STARTTLS");
    if (ready.kind !== "heard") return ready;
    const secured = await startTls(talk);
    if (secured.kind !== "heard") return secured;
    last = secured.value;
    // What the server said before TLS is forgotten.
    const again = await introduce(last);
    if (again.kind !== "heard") return again;
  }
  last.say("QUIT\r\n");
  return null;
}

const NO_STARTTLS: DialogueEnd = {
  kind: "fault",
  fault: { stage: "tls", reason: "no_starttls", message: "the server does not offer STARTTLS" },
};

/** RFC 959 section 4.2, RFC 4217 section 4. */
async function ftp(talk: Talk, { startTls }: DialogueContext): Promise<DialogueEnd | null> {
  const greeted = await replyOf(talk, "220", "220");
  if (greeted.kind !== "heard") return greeted;
  let last = talk;
  if (startTls !== null) {
    const ready = await ask(talk, "AUTH TLS", "234", "234 to AUTH TLS");
    if (ready.kind !== "heard") return ready;
    const secured = await startTls(talk);
    if (secured.kind !== "heard") return secured;
    last = secured.value;
  }
  last.say("QUIT\r\n");
  return null;
}

function ask(talk: Talk, command: string, code: string, wanted: string): Promise<Heard<readonly string[]>> {
  talk.say(`${command}\r\n`);
  return replyOf(talk, code, wanted);
}

/** Reads a reply of SMTP or FTP, of one line or several, which must have a code (RFC 5321 section 4.2, RFC 959 4.2). */
async function replyOf(talk: Talk, code: string, wanted: string): Promise<Heard<readonly string[]>> {
  const lines: string[] = [];
  for (;;) {
    const heard = await talk.line(wanted);
    if (heard.kind !== "heard") return heard;
    lines.push(heard.value);
    const [first = ""] = lines;
    // A first line with another code, or without one, needs no end.
    if (!first.startsWith(code) || !/^\d{3}(?:[ -]|$)/.test(first)) return unexpected(wanted, first, talk.redact);
    if (!/^\d{3}(?: |$)/.test(heard.value)) continue;
    return heard.value.startsWith(code)
      ? { kind: "heard", value: lines }
      : unexpected(wanted, heard.value, talk.redact);
  }
}

/** RFC 9051 sections 6.2.1 and 7.1. */
async function imap(talk: Talk, { startTls }: DialogueContext): Promise<DialogueEnd | null> {
  const greeted = await talk.line("* OK");
  if (greeted.kind !== "heard") return greeted;
  const [, state] = /^\* (OK|PREAUTH)(?: |$)/i.exec(greeted.value) ?? [];
  if (state === undefined) return unexpected("* OK", greeted.value, talk.redact);
  let last = talk;
  if (startTls !== null) {
    if (state.toUpperCase() === "PREAUTH") return unexpected("* OK", greeted.value, talk.redact);
    const ready = await taggedAnswer(talk, "a1 STARTTLS", "a1");
    if (ready.kind !== "heard") return ready;
    const secured = await startTls(talk);
    if (secured.kind !== "heard") return secured;
    last = secured.value;
  }
  last.say("a2 LOGOUT\r\n");
  return null;
}

/** Reads up to the answer to a command, which must be OK. Other lines before it are not about the command. */
async function taggedAnswer(talk: Talk, command: string, tag: string): Promise<Heard<null>> {
  talk.say(`${command}\r\n`);
  const wanted = `${tag} OK to STARTTLS`;
  for (;;) {
    const heard = await talk.line(wanted);
    if (heard.kind !== "heard") return heard;
    if (/^\* BYE(?: |$)/i.test(heard.value) || !/^(?:\*|\+|a1) /.test(heard.value))
      return unexpected(wanted, heard.value, talk.redact);
    if (!heard.value.startsWith(`${tag} `)) continue;
    const isOk = /^OK(?: |$)/i.test(heard.value.slice(tag.length + 1));
    return isOk ? { kind: "heard", value: null } : unexpected(wanted, heard.value, talk.redact);
  }
}

/** Maximum length of an identification with its CR and LF, in octets, and of the lines before it. */
const MOST_IDENTIFICATION = 255;
const MOST_LINES_BEFORE = 50;

/** RFC 4253 sections 4.2 and 5.1. */
async function ssh(talk: Talk): Promise<DialogueEnd | null> {
  talk.say("SSH-2.0-Vantage\r\n");
  let first: string | null = null;
  for (let lines = 0; lines <= MOST_LINES_BEFORE; lines += 1) {
    const heard = await talk.line("SSH-2.0-");
    if (heard.kind !== "heard") return heard;
    const line = heard.value;
    first ??= line;
    if (!line.startsWith("SSH-")) continue;
    // 1.99: a server of both versions.
    if (!/^SSH-(?:2\.0|1\.99)-/.test(line)) return unexpected("SSH-2.0-", line, talk.redact);
    if (Buffer.byteLength(line) + 2 <= MOST_IDENTIFICATION) return null;
    return fault(
      "identification_too_long",
      `the identification is longer than ${MOST_IDENTIFICATION} bytes: ${quoted(line, talk.redact)}`,
    );
  }
  return unexpected(`SSH-2.0- within ${MOST_LINES_BEFORE} lines`, first ?? "", talk.redact);
}

/** Answers that only a working server gives to a client that is not signed in. */
const SIGN_IN_FIRST = /^-(?:NOAUTH|NOPERM)(?: |$)/;

/** The Redis serialization protocol. A server that asks for a password works; one that loads its data does not yet. */
async function redis(talk: Talk): Promise<DialogueEnd | null> {
  talk.say("*1\r\n$4\r\nPING\r\n");
  const heard = await talk.line("+PONG");
  if (heard.kind !== "heard") return heard;
  const isAlive = heard.value === "+PONG" || SIGN_IN_FIRST.test(heard.value);
  return isAlive ? null : unexpected("+PONG", heard.value, talk.redact);
}

function fault(reason: string, message: string): DialogueEnd {
  return { kind: "fault", fault: { stage: "response", reason, message } };
}

/** Why a dialogue ended: an answer that is not as it should be, or none. */
export type DialogueEnd =
  | { readonly kind: "fault"; readonly fault: MonitorFault }
  | { readonly kind: "failed"; readonly failure: Failed };

/** Something read, or why it could not be. */
export type Heard<T> = { readonly kind: "heard"; readonly value: T } | DialogueEnd;

/** One side of a conversation in clear text or under TLS. */
export interface Talk {
  /** That of the connection. */
  readonly redact: Redact;
  /** Sends octets, or a text in UTF-8. */
  say(text: string | Buffer): void;
  /** Reads the next line, without its end. `wanted` names in messages what is waited for. */
  line(wanted: string): Promise<Heard<string>>;
  /** Waits until a text has arrived, in UTF-8 or Latin-1. */
  find(text: string): Promise<Heard<null>>;
  /** Number of octets that arrived and were not read. */
  unread(): number;
}

const LF = 10;

/** Begins to listen to a connection as it is now: with the start of TLS begins another conversation. */
export function createTalk(stream: Stream): Talk {
  /** Octets read, and octets known to contain no further end of a line. */
  let taken = 0;
  let searched = 0;
  /** What the server said last, if nothing follows. */
  let last: Buffer = Buffer.alloc(0);
  const unread = (): Buffer => stream.received().subarray(taken);
  const { redact } = stream;
  return {
    redact,
    say: (text) => stream.send(typeof text === "string" ? Buffer.from(text) : text),
    unread: () => unread().length,
    async line(wanted) {
      for (;;) {
        const octets = stream.received();
        const at = octets.indexOf(LF, searched);
        if (at >= 0) {
          last = octets.subarray(taken, at);
          const line = decodeText(last);
          taken = at + 1;
          searched = taken;
          return { kind: "heard", value: line.endsWith("\r") ? line.slice(0, -1) : line };
        }
        searched = octets.length;
        const end = await stream.more();
        if (end !== null) return explainEnd(end, wanted, unread().length === 0 ? last : unread(), redact);
      }
    },
    async find(text) {
      const forms = octetForms(text);
      const longest = Math.max(...forms.map(({ length }) => length));
      for (;;) {
        const octets = stream.received();
        // The text can span two pieces.
        const from = Math.max(0, searched - longest + 1);
        if (forms.some((form) => octets.indexOf(form, from) >= 0)) return { kind: "heard", value: null };
        searched = octets.length;
        const end = await stream.more();
        if (end !== null) return explainEnd(end, quoted(text, unredacted), octets, redact);
      }
    },
  };
}

/** Ends a dialogue whose answer is another one than `wanted`. */
function unexpected(wanted: string, said: string, redact: Redact): DialogueEnd {
  const message = `${wanted} expected, the server said ${quoted(said, redact)}`;
  return { kind: "fault", fault: { stage: "response", reason: "unexpected_answer", message } };
}

function explainEnd(end: StreamEnd, wanted: string, received: Buffer, redact: Redact): DialogueEnd {
  const said = received.length === 0 ? "" : `; the server said ${quoted(received, redact)}`;
  if (end === "closed") {
    return failure("closed", `the server closed the connection before ${wanted} was found${said}`);
  }
  if (end === "full") {
    const message = `the server sent 64 KB without ${wanted}`;
    return { kind: "fault", fault: { stage: "response", reason: "text_missing", message } };
  }
  if (end.reason === "timeout")
    return failure("timeout", `${wanted} was not found in time${said || "; the server said nothing"}`);
  if (end.reason === "reset") return failure("reset", `the connection was lost before ${wanted} was found${said}`);
  return { kind: "failed", failure: end };
}

function failure(reason: string, message: string): DialogueEnd {
  return { kind: "failed", failure: failed("response", "target", reason, message) };
}
