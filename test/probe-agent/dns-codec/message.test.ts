import { describe, expect, it } from "vitest";
import { encodeMessage, type MessageToSend } from "#probe-agent/dns-codec/question.ts";
import { OPTION_EDE, OPTION_NSID } from "#probe-agent/dns-codec/edns.ts";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { decodeHead, decodeMessage } from "#probe-agent/dns-codec/message.ts";
import { textToName } from "#probe-agent/dns-codec/names.ts";
import { RCODES, rcodeName, typeCode, typeName } from "#shared/internet/dns-registry.ts";
import { makeRecord } from "#test/servers/dns-zones.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const QUESTION = { name: textToName("example.test") ?? new Uint8Array(), type: 1, class: 1 };
const SOA = "ns1.example.test. hostmaster.example.test. 1 2 3 4 5";

const FULL: MessageToSend = {
  id: 0xbeef,
  response: true,
  opcode: 0,
  rcode: 0,
  flags: { aa: true, rd: true, ra: true, ad: true, cd: true },
  question: QUESTION,
  answers: [
    makeRecord("www.example.test", "CNAME", "example.test."),
    makeRecord("example.test", "A", "192.0.2.1"),
    makeRecord("example.test", "HTTPS", '1 . alpn="h3,h2" ipv4hint=192.0.2.1 ech=AAEC'),
    makeRecord("example.test", "RRSIG", "A 13 2 300 20300101000000 20200101000000 1 example.test. AAAA"),
    makeRecord("example.test", "TXT", '"one" "two \\255"'),
  ],
  authority: [
    makeRecord("example.test", "SOA", SOA),
    makeRecord("example.test", "NSEC", "www.example.test. A NS SOA RRSIG NSEC TYPE65280"),
    makeRecord("x.example.test", "NSEC3", "1 1 0 AABB 2VPTU5TIMAMQTTGL4LUU9KG21E0AOR3S A"),
  ],
  additional: [makeRecord("mail.example.test", "AAAA", "2001:db8::1"), makeRecord("a.test", "LOC", "1 N 1 E 1m")],
  edns: {
    udpSize: 4096,
    dnssecOk: true,
    options: [
      { code: OPTION_NSID, data: Buffer.from("fra1") },
      { code: OPTION_EDE, data: Uint8Array.of(0, 6, ...Buffer.from("bögus")) },
      { code: 10, data: new Uint8Array(8) },
    ],
  },
};

function fresh(): Uint8Array {
  return encodeMessage(FULL);
}

describe("a message", () => {
  it("is the same after encoding and decoding", () => {
    const message = decodeMessage(fresh());
    expect(message).toMatchObject({ id: 0xbeef, response: true, opcode: 0, rcode: 0, trailing: 0 });
    expect(message.flags).toEqual({ aa: true, tc: false, rd: true, ra: true, ad: true, cd: true });
    expect(message.questions).toEqual([QUESTION]);
    expect(message.edns).toMatchObject({ udpSize: 4096, version: 0, dnssecOk: true, nsid: "66726131" });
    expect(message.edns?.ede).toEqual([{ code: 6, text: "bögus" }]);
    const { answers, authority, additional } = message;
    const again = encodeMessage({ ...FULL, answers, authority, additional });
    expect(again).toEqual(fresh());
  });

  it("has an RCODE of twelve bits with EDNS", () => {
    const message = decodeMessage(
      encodeMessage({ id: 1, response: true, rcode: 23, edns: { udpSize: 512, dnssecOk: false } }),
    );
    expect([message.rcode, rcodeName(message.rcode)]).toEqual([23, "BADCOOKIE"]);
  });

  it("can have octets after its end", () => {
    expect(decodeMessage(Uint8Array.of(...fresh(), 1, 2, 3)).trailing).toBe(3);
  });

  it("keeps its complete records if it was truncated, and only then", () => {
    const cut = fresh().subarray(0, 70);
    expect(() => decodeMessage(cut)).toThrow(DecodeError);
    const flagged = Uint8Array.from(cut);
    flagged[2] = (flagged[2] ?? 0) | 2;
    expect(decodeMessage(flagged).answers.map(({ type }) => type)).toEqual(["CNAME"]);
  });

  it("counts a TTL with the top bit as zero", () => {
    const record = { ...makeRecord("a.test", "A", "192.0.2.1"), ttl: 2 ** 31 };
    expect(decodeMessage(encodeMessage({ id: 1, answers: [record] })).answers[0]?.ttl).toBe(0);
  });

  it("drops options after a broken one, and keeps only a few errors", () => {
    const ede = Array.from({ length: 40 }, () => ({
      code: OPTION_EDE,
      data: Uint8Array.of(0, 1, ...Buffer.alloc(600, "x")),
    }));
    const message = decodeMessage(encodeMessage({ id: 1, edns: { udpSize: 512, dnssecOk: false, options: ede } }));
    expect(message.edns?.ede).toHaveLength(16);
    expect(message.edns?.ede[0]?.text).toHaveLength(512);
    const broken = encodeMessage({
      id: 1,
      edns: { udpSize: 512, dnssecOk: false, options: [{ code: 15, data: Uint8Array.of(0, 1) }] },
    });
    broken[broken.length - 3] = 200;
    expect(decodeMessage(broken).edns).toMatchObject({ ede: [], options: [] });
  });
});

describe("octets that are not a message", () => {
  it.each([
    ["nothing", ""],
    ["a header cut short", "0001800000000000000000"],
    ["a question that is not there", "000180000001000000000000"],
    ["a question cut short", "00018000000100000000000000000100"],
    ["65535 questions", "00018000ffff000000000000"],
    ["an answer that is not there", "000180000000000100000000"],
    ["an answer cut in its fixed part", "0001800000000001000000000000010001000000"],
    ["an answer longer than the message", "00018000000000010000000000000100010000000000ff01"],
    ["65535 answers of which one is there", "000180000000ffff0000000000000100010000000000040a000001"],
  ])("is refused: %s", (_what, hex) => {
    expect(() => decodeMessage(Uint8Array.from(Buffer.from(hex, "hex")))).toThrow(DecodeError);
  });

  it("is rejected above 65535 octets in decoding and in encoding", () => {
    expect(() => decodeMessage(new Uint8Array(65_536))).toThrow(DecodeError);
    const long = makeRecord("a.test", "TYPE999", `\\# 60000 ${"00".repeat(60_000)}`);
    expect(() => encodeMessage({ id: 1, answers: [long, long] })).toThrow(DecodeError);
  });
});

describe("hostile messages", () => {
  /** A seeded generator (xorshift32), so that every run uses the same mutations. */
  function createRandom(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return (state >>> 0) % below;
    };
  }

  function withInserted(octets: Uint8Array, at: number, octet: number): Uint8Array<ArrayBuffer> {
    const longer = new Uint8Array(octets.length + 1);
    longer.set(octets.subarray(0, at));
    longer[at] = octet;
    longer.set(octets.subarray(at), at + 1);
    return longer;
  }

  function mutate(octets: Uint8Array, random: (below: number) => number): Uint8Array {
    let mutant = Uint8Array.from(octets);
    for (let changes = 1 + random(6); changes > 0; changes -= 1) {
      const at = random(mutant.length || 1);
      const kind = random(6);
      if (kind === 0) mutant = mutant.slice(0, at);
      else if (kind === 1) mutant = withInserted(mutant, at, random(256));
      else if (kind === 2) mutant.set([0xc0 | random(4), random(256)], Math.max(0, Math.min(at, mutant.length - 2)));
      else if (kind === 3) mutant.copyWithin(at, random(mutant.length || 1), random(mutant.length || 1));
      else mutant[at] = kind === 4 ? random(256) : (mutant[at] ?? 0) ^ (1 << random(8));
      if (mutant.length < 2) return mutant;
    }
    return mutant;
  }

  it("never raise any error but a DecodeError in 20,000 mutations", () => {
    const random = createRandom(20_260_101);
    const original = fresh();
    let refused = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const mutant = mutate(original, random);
      try {
        const { answers, authority, additional } = decodeMessage(mutant);
        for (const record of [...answers, ...authority, ...additional]) JSON.stringify(record.typed);
        decodeHead(mutant);
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(1_000);
    expect(refused).toBeLessThan(19_000);
  });

  it("cannot make decoding slow: the largest message, full of names with long chains of pointers", () => {
    const deep = Array.from({ length: 127 }, () => "a").join(".");
    const [name] = [textToName(deep) ?? new Uint8Array()];
    const head = encodeMessage({ id: 1, response: true, question: { name, type: 1, class: 1 } });
    const ns = [0xc0, 12, 0, 2, 0, 1, 0, 0, 0, 0, 0, 2, 0xc0, 12];
    const count = Math.floor((65_535 - head.length) / ns.length);
    const bytes = Uint8Array.from([...head, ...Array.from({ length: count }, () => ns).flat()]);
    bytes[6] = count >>> 8;
    bytes[7] = count & 0xff;
    const startedAt = cpuTime();
    expect(decodeMessage(bytes).answers).toHaveLength(count);
    expect(cpuTime() - startedAt).toBeLessThan(5_000);
  });
});

describe("the registry", () => {
  it("knows types by mnemonic and by number", () => {
    expect(["a", "HTTPS", "TYPE65", "type65280"].map(typeCode)).toEqual([1, 65, 65, 65_280]);
    expect(["BOGUS", "TYPE65536", "TYPE", "", "__proto__"].map(typeCode)).toEqual([null, null, null, null, null]);
    expect([typeName(257), typeName(65_280)]).toEqual(["CAA", "TYPE65280"]);
    expect([rcodeName(3), rcodeName(99), RCODES["REFUSED"]]).toEqual(["NXDOMAIN", "RCODE99", 5]);
  });
});
