import { failed, type Failed } from "#shared/contracts/outcome.ts";
import { unredacted, type Redact } from "#shared/text/redact.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { decodeText, octetForms, quoted } from "#probe-agent/monitor-checks/words.ts";
import type { Stream, StreamEnd } from "#probe-agent/port/stream.ts";

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
export function unexpected(wanted: string, said: string, redact: Redact): DialogueEnd {
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
