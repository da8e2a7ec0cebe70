import { encodeMessage, type MessageToSend } from "#probe-agent/dns-codec/question.ts";
import { OPTION_EDE, OPTION_NSID, type EdnsToSend } from "#probe-agent/dns-codec/edns.ts";
import type { Message, WireQuestion } from "#probe-agent/dns-codec/message.ts";
import { lowerName, textToName } from "#probe-agent/dns-codec/names.ts";
import { RCODES, typeCode } from "#shared/internet/dns-registry.ts";
import { lookUp, makeRecord, type ZoneAnswer, type Zones } from "#test/servers/dns-zones.ts";

/** How a test server treats one name. */
export interface Behaviour {
  /** Queries not answered: the first n, or all. */
  readonly drop?: number | true;
  /** Drop over this transport only. */
  readonly dropOver?: "udp" | "tcp";
  readonly delayMs?: number;
  /** This RCODE instead of the zone's answer, e.g. SERVFAIL. */
  readonly status?: string;
  /** `status` only for queries without CD, as a validating resolver does for bogus data. */
  readonly unlessChecked?: boolean;
  /** Empty answer with TC over UDP. */
  readonly truncate?: boolean;
  /** Sent right before the true answer, over UDP. */
  readonly before?: readonly ("wrong_id" | "wrong_question" | "wrong_type" | "wrong_source" | "not_a_response")[];
  /** The question comes back in lower case. */
  readonly lowerCase?: boolean;
  /** AD bit, for queries that set DO or AD and not CD. */
  readonly authentic?: boolean;
  /** Extended DNS errors, for queries with EDNS. */
  readonly ede?: readonly { readonly code: number; readonly text: string }[];
  /** The server's name for itself, for queries that ask (RFC 5001). */
  readonly nsid?: string;
  /** What happens to queries with EDNS: RCODE without OPT, silence, or answered as if there was none. */
  readonly edns?: "FORMERR" | "NOTIMP" | "BADVERS" | "drop" | "ignore";
  /** Last word on the octets that go out; null if nothing does. */
  readonly rewrite?: (reply: Uint8Array) => Uint8Array | null;
}

/** One received query. */
export interface Query {
  /** Case as sent. */
  readonly name: string;
  readonly type: string;
  readonly transport: "udp" | "tcp";
  readonly sourceIp: string;
  readonly sourcePort: number;
  readonly message: Message;
}

interface Reply {
  readonly bytes: Uint8Array;
  readonly fromElsewhere: boolean;
}

interface Settings {
  readonly zones?: Zones;
  readonly behaviours?: Readonly<Record<string, Behaviour>>;
  readonly authoritative?: boolean;
  readonly denial?: { readonly type: string; readonly data: string };
  readonly answer?: (name: string, type: string, query: Query) => ZoneAnswer;
}

/** Makes the replies to a query. `seen` contains all queries so far, including this one. */
export function writeReplies(settings: Settings, query: Query, seen: readonly Query[]): Replies {
  const name = query.name.toLowerCase();
  const all = settings.behaviours ?? {};
  const behaviour = all[`${name}/${query.type}`] ?? all[name] ?? all["*"] ?? {};
  const { edns } = query.message;
  const delayMs = behaviour.delayMs ?? 0;
  const nth = seen.filter((other) => other.name.toLowerCase() === name && other.type === query.type).length;
  const overThis = behaviour.dropOver === undefined || behaviour.dropOver === query.transport;
  const dropped = behaviour.drop === true || (behaviour.dropOver !== undefined && behaviour.drop === undefined);
  if (overThis && (dropped || (typeof behaviour.drop === "number" && nth <= behaviour.drop))) return NOTHING;
  if (edns !== null && behaviour.edns === "drop") return NOTHING;

  const asked = questionOf(query, behaviour);
  const reply = fitted(answerTo(settings, behaviour, query, asked), query, behaviour);
  const bytes = encodeMessage(reply);
  const rewritten = behaviour.rewrite === undefined ? bytes : behaviour.rewrite(bytes);
  const before = query.transport === "tcp" ? [] : (behaviour.before ?? []);
  const replies: Reply[] = before.map((kind) => ({
    bytes: encodeMessage(spoiled(reply, asked, kind)),
    fromElsewhere: kind === "wrong_source",
  }));
  if (rewritten !== null) replies.push({ bytes: rewritten, fromElsewhere: false });
  return { delayMs, replies };
}

interface Replies {
  readonly delayMs: number;
  readonly replies: readonly Reply[];
}

const NOTHING: Replies = { delayMs: 0, replies: [] };

function questionOf(query: Query, behaviour: Behaviour): WireQuestion {
  const [question] = query.message.questions;
  if (question === undefined) throw new Error("a query without question is not logged");
  return behaviour.lowerCase === true ? { ...question, name: lowerName(question.name) } : question;
}

function answerTo(settings: Settings, behaviour: Behaviour, query: Query, question: WireQuestion): MessageToSend {
  const { id, flags, edns } = query.message;
  const base = { id, response: true, question, flags: { rd: flags.rd, ra: settings.authoritative !== true } };
  if (edns !== null && (behaviour.edns === "FORMERR" || behaviour.edns === "NOTIMP")) {
    return { ...base, rcode: RCODES[behaviour.edns] ?? 1 };
  }
  const withEdns = edns !== null && behaviour.edns !== "ignore";
  const ownEdns: EdnsToSend = {
    udpSize: 1232,
    dnssecOk: edns?.dnssecOk ?? false,
    options: optionsOf(behaviour, query),
  };
  if (withEdns && behaviour.edns === "BADVERS") return { ...base, rcode: 16, edns: ownEdns };
  const forced = behaviour.unlessChecked === true && flags.cd ? undefined : behaviour.status;
  const dnssecOk = edns?.dnssecOk ?? false;
  const found =
    settings.answer?.(query.name, query.type, query) ?? lookUp(settings.zones ?? {}, query.name, query.type, dnssecOk);
  const denied = found.answers.length === 0 && dnssecOk ? settings.denial : undefined;
  const proof = denied === undefined ? [] : [makeRecord(query.name, denied.type, denied.data)];
  const authentic = behaviour.authentic === true && (dnssecOk || flags.ad) && !flags.cd;
  return {
    ...base,
    rcode: RCODES[forced ?? found.status] ?? 2,
    flags: { ...base.flags, aa: settings.authoritative === true, ad: authentic, cd: flags.cd },
    ...(forced === undefined ? { answers: found.answers, authority: [...found.authority, ...proof] } : {}),
    ...(withEdns ? { edns: ownEdns } : {}),
  };
}

function optionsOf(behaviour: Behaviour, query: Query): NonNullable<EdnsToSend["options"]> {
  const errors = (behaviour.ede ?? []).map(({ code, text }) => ({
    code: OPTION_EDE,
    data: Uint8Array.of(code >>> 8, code & 0xff, ...Buffer.from(text)),
  }));
  const asked =
    query.message.edns?.options.some(({ code, data }) => code === OPTION_NSID && data.length === 0) ?? false;
  if (!asked || behaviour.nsid === undefined) return errors;
  return [...errors, { code: OPTION_NSID, data: Buffer.from(behaviour.nsid, "latin1") }];
}

/** Cut to TC where it is asked for or too long for the client's UDP size. */
function fitted(reply: MessageToSend, query: Query, behaviour: Behaviour): MessageToSend {
  if (query.transport === "tcp") return reply;
  const room = Math.max(512, query.message.edns?.udpSize ?? 512);
  if (behaviour.truncate !== true && encodeMessage(reply).length <= room) return reply;
  return { ...reply, flags: { ...reply.flags, tc: true }, answers: [], authority: [], additional: [] };
}

function spoiled(
  reply: MessageToSend,
  asked: WireQuestion,
  kind: NonNullable<Behaviour["before"]>[number],
): MessageToSend {
  const forged = { ...reply, rcode: 3, answers: [], authority: [] };
  const question = {
    wrong_question: { ...asked, name: textToName("forged.invalid") ?? asked.name },
    wrong_type: { ...asked, type: typeCode("HINFO") ?? asked.type },
  };
  if (kind === "wrong_id") return { ...forged, id: reply.id ^ 1 };
  if (kind === "not_a_response") return { ...forged, response: false };
  return kind === "wrong_source" ? forged : { ...forged, question: question[kind] };
}
