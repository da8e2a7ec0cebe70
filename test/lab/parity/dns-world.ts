import { createSocket } from "node:dgram";
import { once } from "node:events";
import { decodeMessage } from "#probe-agent/dns-codec/message.ts";
import { encodeMessage, type MessageToSend } from "#probe-agent/dns-codec/question.ts";
import type { At } from "#test/lab/parity/places.ts";
import { startDotFront } from "#test/servers/dns-encrypted.ts";
import type { Query } from "#test/servers/dns-reply.ts";
import { compressionLoop, garbage, lookUp, lyingCounts, makeRecord, type ZoneAnswer } from "#test/servers/dns-zones.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import type { Issued } from "#test/servers/pki.ts";
import { startWireServer } from "#test/servers/wire.ts";

const SOA = "ns.site.example. h.site.example. 42 3600 600 86400 300";
const ZONES: Record<string, Readonly<Record<string, readonly string[]>>> = {
  ".": { NS: ["a.root.example."], SOA: ["a.root.example. h.root.example. 2026113000 1800 900 604800 86400"] },
  "site.example": {
    A: ["198.51.100.1", "198.51.100.2"],
    AAAA: ["2001:db8::1"],
    MX: ["10 mail.site.example.", "20 mail2.site.example."],
    NS: ["ns.site.example.", "ns2.site.example."],
    TXT: ['"v=spf1 -all"', '"two" "parts"'],
    CAA: ['0 issue "ca.example"'],
    SOA: [SOA],
  },
  "_sip._tcp.site.example": { SRV: ["1 2 5060 sip.site.example."] },
  "alias.site.example": { CNAME: ["site.example."] },
  "big.site.example": { TXT: Array.from({ length: 12 }, (_, index) => `"${String(index).repeat(100)}"`) },
  "soa2.site.example": { SOA: [SOA, SOA.replace("42", "43")] },
};

/** The SOA of echo.example has a serial made of the query's flags and EDNS, so that values tell different queries apart. */
function echoed({ message: { flags, edns } }: Query): string {
  const bits = [flags.rd, flags.cd, flags.ad, flags.tc, edns !== null, edns?.dnssecOk === true];
  const serial = bits.reduce((number, bit) => number * 2 + Number(bit), 1) * 100_000 + (edns?.udpSize ?? 0);
  return `ns.echo.example. h.echo.example. ${serial} 3600 600 86400 300`;
}

function answer(name: string, type: string, query: Query): ZoneAnswer {
  const lower = name === "" ? "." : name.toLowerCase();
  if (lower === "echo.example") {
    return { status: "NOERROR", answers: [makeRecord(lower, "SOA", echoed(query))], authority: [] };
  }
  if (type !== "ANY" && type !== "TYPE255") return lookUp(ZONES, lower, type, false);
  const node = ZONES[lower] ?? {};
  const all = Object.entries(node).flatMap(([kind, data]) => data.map((each) => makeRecord(lower, kind, each)));
  return { status: "NOERROR", answers: all, authority: [] };
}

/** A reply with other contents. */
const instead =
  (make: (message: MessageToSend) => MessageToSend) =>
  (reply: Uint8Array): Uint8Array => {
    const { id, flags, questions } = decodeMessage(reply);
    const [question] = questions;
    return encodeMessage(make({ id, response: true, flags, ...(question === undefined ? {} : { question }) }));
  };

const glue = instead((message) => ({
  ...message,
  answers: [makeRecord("glue.example", "NS", "ns.glue.example.")],
  authority: [
    makeRecord("glue.example", "NS", "ns.glue.example."),
    makeRecord("glue.example", "NS", "ns2.glue.example."),
  ],
  additional: [makeRecord("ns.glue.example", "A", "198.51.100.9"), makeRecord("ns2.glue.example", "A", "198.51.100.8")],
}));

const BEHAVIOURS = {
  "servfail.example": { status: "SERVFAIL" },
  "refused.example": { status: "REFUSED" },
  "notimp.example": { status: "NOTIMP" },
  "formerr.example": { status: "FORMERR" },
  "yxdomain.example": { status: "YXDOMAIN" },
  "truncated.example": { truncate: true },
  "silent.example": { drop: true },
  "late.example": { drop: 1 },
  "wrongid.example": { before: ["wrong_id"] },
  "onlywrongid.example": { rewrite: (reply: Uint8Array) => Uint8Array.of((reply[0] ?? 0) ^ 1, ...reply.subarray(1)) },
  "wrongquestion.example": { before: ["wrong_question"] },
  "query.example": { before: ["not_a_response"] },
  "garbage.example": { rewrite: garbage },
  "loop.example": { rewrite: compressionLoop },
  "counts.example": { rewrite: lyingCounts },
  "short.example": { rewrite: (reply: Uint8Array) => reply.subarray(0, 8) },
  "header.example": { rewrite: (reply: Uint8Array) => Uint8Array.of(...reply.subarray(0, 4), 0, 0, 0, 0, 0, 0, 0, 0) },
  "trailing.example": { rewrite: (reply: Uint8Array) => Uint8Array.of(...reply, 1, 2, 3, 4) },
  "lower.example": { lowerCase: true },
  "glue.example": { rewrite: glue },
} as const;

for (const name of Object.keys(BEHAVIOURS)) ZONES[name] = { A: ["198.51.100.3"] };

/** Starts DNS servers, with one over TLS. */
export async function startDnsWorld(at: At, ...chain: readonly Issued[]): Promise<Record<string, string>> {
  const dns = await startDnsServer({ answer, behaviours: BEHAVIOURS });
  const authoritative = await startDnsServer({ answer, authoritative: true });
  const [certificate, ...above] = chain;
  if (certificate === undefined) throw new Error("a front has a certificate");
  const silent = createSocket("udp4").bind(0, "127.0.0.1");
  await once(silent, "listening");
  return {
    dns: at(dns),
    dnsport: String(dns.port),
    authoritative: at(authoritative),
    dot: at(await startDotFront(dns.port, { certificate, chain: above })),
    udpsilent: at({ port: silent.address().port, close: () => silent.close() }),
    tcpclosing: at(await startWireServer("")),
    tcpzero: at(await startWireServer(Buffer.from([0, 0]))),
    tcpcut: at(await startWireServer(Buffer.from([0, 60, 1, 2, 3]))),
    tcptext: at(await startWireServer("HTTP/1.1 400 Bad Request\r\n\r\n")),
  };
}
