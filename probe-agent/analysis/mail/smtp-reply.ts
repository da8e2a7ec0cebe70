import { isUtf8 } from "node:buffer";
import type { ReplyFault, SmtpReply } from "#probe-agent/port/smtp.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";

/** Why the received octets cannot become a reply. */
type ReplyEnd = "too_long" | "not_smtp";

/** Converts octets to replies. Uses neither time nor network. */
export interface ReplyReader {
  /** Adds received octets. Drops octets after the end. */
  push(octets: Uint8Array): void;
  /** Returns the next complete reply; null if none is complete yet. */
  take(): SmtpReply | null;
  /** Returns the reason when no further reply can follow; null before. */
  end(): ReplyEnd | null;
  /** Returns the octets that are not part of a taken reply, as printable text. */
  rest(): { readonly bytes: number; readonly text: string };
}

/** Maximum number of octets of one reply. The longest real replies have a few kilobytes. */
const MAX_REPLY = 64 * 1024;
const MAX_LINES = 100;
const MAX_LINE = 512;
const MAX_SHOWN = 400;
const LINE = /^(\d{3})(?:([ -])(.*))?$/s;
const CODE = /^[2-5][0-5]\d$/;
const LF = 10;
const CR = 13;

/** Creates a reader for one direction of one connection. It reads each octet only once. */
export function createReplyReader(): ReplyReader {
  const held: Uint8Array[] = [];
  const ready: { readonly reply: SmtpReply; readonly bytes: number }[] = [];
  let untaken = 0;
  let open = emptyReply();
  let openBytes = 0;
  let end: ReplyEnd | null = null;

  const line = (octets: Buffer, ended: "crlf" | "lf"): void => {
    if (ended === "lf") open.faults.add("bare_line_feed");
    if (octets.length + 2 > MAX_LINE) open.faults.add("long_line");
    if (octets.some((octet) => octet < 32 && octet !== 9)) open.faults.add("control_character");
    if (octets.some((octet) => octet > 127)) open.faults.add("eight_bit");
    const [, code, separator, text = ""] = LINE.exec(decodeText(octets)) ?? [];
    if (code === undefined) {
      if (open.code === null) end = "not_smtp";
      else open.faults.add("line_without_code");
      addLine(open, decodeText(octets));
      return;
    }
    if (!CODE.test(code)) open.faults.add("odd_code");
    if (open.code !== null && open.code !== code) open.faults.add("mixed_codes");
    open.code = code;
    addLine(open, text);
    if (separator === "-") return;
    const { lines, omitted, faults } = open;
    ready.push({ reply: { code: Number(code), lines, omitted, faults: [...faults] }, bytes: openBytes });
    open = emptyReply();
    openBytes = 0;
  };

  return {
    push(octets) {
      untaken += octets.length;
      let start = 0;
      for (let at = 0; at < octets.length && end === null; at += 1) {
        openBytes += 1;
        if (openBytes > MAX_REPLY) end = "too_long";
        if (octets[at] !== LF) continue;
        const whole = Buffer.concat([...held, octets.subarray(start, at)]);
        held.length = 0;
        start = at + 1;
        const hasCr = whole.at(-1) === CR;
        line(hasCr ? whole.subarray(0, -1) : whole, hasCr ? "crlf" : "lf");
      }
      if (end === null && start < octets.length) held.push(octets.slice(start));
    },
    take() {
      const first = ready.shift();
      untaken -= first?.bytes ?? 0;
      return first?.reply ?? null;
    },
    end: () => (ready.length > 0 ? null : end),
    rest() {
      const whole = ready.flatMap(({ reply }) => reply.lines.map((text) => `${reply.code} ${text}`));
      const begun = decodeText(Buffer.concat(held).subarray(0, MAX_SHOWN * 2));
      const texts = [...whole, ...open.lines, begun].filter((text) => text !== "");
      return { bytes: untaken, text: shorten(texts.join(" / ")) };
    },
  };
}

interface OpenReply {
  code: string | null;
  readonly lines: string[];
  omitted: number;
  readonly faults: Set<ReplyFault>;
}

function emptyReply(): OpenReply {
  return { code: null, lines: [], omitted: 0, faults: new Set() };
}

function addLine(open: OpenReply, text: string): void {
  if (open.lines.length < MAX_LINES) open.lines.push(shorten(text));
  else open.omitted += 1;
}

/** Decodes octets as UTF-8 if they are valid UTF-8, otherwise as latin1. */
function decodeText(octets: Buffer): string {
  return octets.toString(isUtf8(octets) ? "utf8" : "latin1");
}

function shorten(text: string): string {
  return printable(text, MAX_SHOWN).trimEnd();
}
