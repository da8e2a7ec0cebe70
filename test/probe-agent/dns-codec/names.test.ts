import { describe, expect, it } from "vitest";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { equalNames, lowerName, nameToText, readName, textToName } from "#probe-agent/dns-codec/names.ts";
import { ByteWriter } from "#probe-agent/dns-codec/writer.ts";

const HEADER = Array.from({ length: 12 }, () => 0);
// 63 labels of four octets each make 252, plus one for the root.
const LABELS = Array.from({ length: 63 }, () => "abc");

function message(...octets: readonly (number | string)[]): Uint8Array {
  return Uint8Array.from([
    ...HEADER,
    ...octets.flatMap((part) => (typeof part === "string" ? [part.length, ...Buffer.from(part, "latin1")] : [part])),
  ]);
}

describe("a name on the wire", () => {
  it("is read with and without compression", () => {
    const bytes = message("www", "Example", "test", 0, "mail", 0xc0, 16, 0xc0, 30);
    expect(nameToText(readName(bytes, 12).name)).toBe("www.Example.test");
    const mail = readName(bytes, 30);
    expect([nameToText(mail.name), mail.next]).toEqual(["mail.Example.test", 37]);
    expect(readName(bytes, 37)).toMatchObject({ next: 39, name: mail.name });
  });

  it.each([
    ["a pointer to itself", message(0xc0, 12), 12],
    ["two pointers in a circle", message(0xc0, 14, 0xc0, 12), 14],
    ["a pointer forwards", message(0xc0, 14, 0), 12],
    ["a label that leads back to its own start", message("a", 0xc0, 12), 12],
    ["a pointer into the header", message(0xc0, 2), 12],
    ["a pointer cut in half", message(0xc0), 12],
    ["a label past the end", message(5, 97, 98), 12],
    ["no final zero", message("a"), 12],
    ["nothing at all", message(), 12],
    ["a reserved label type", message(0x41, 97, 0), 12],
    ["an extended label type", message(0x80, 97, 0), 12],
    ["256 octets", message(...LABELS, "abc", 0), 12],
  ])("is refused: %s", (_what, bytes, start) => {
    expect(() => readName(bytes, start)).toThrow(DecodeError);
  });

  it("can have 255 octets and no more", () => {
    expect(readName(message(...LABELS, "a", 0), 12).name).toHaveLength(255);
    expect(() => readName(message(...LABELS, "ab", 0), 12)).toThrow("longer than 255");
  });

  it("ends a long chain of pointers", () => {
    const octets: number[] = [0];
    for (let position = 13; position < 13 + 2 * 200; position += 2) {
      const target = position === 13 ? 12 : position - 2;
      octets.push(0xc0 | (target >>> 8), target & 0xff);
    }
    const bytes = message(...octets);
    expect(nameToText(readName(bytes, 13 + 2 * 100).name)).toBe(".");
    expect(() => readName(bytes, 13 + 2 * 199)).toThrow(DecodeError);
  });

  it("is written once and pointed to after that", () => {
    const writer = new ByteWriter();
    writer.bytes(HEADER);
    const names = ["a.example.test", "b.example.test", "EXAMPLE.test", "example.test", "test", "."];
    const starts = names.map((name) => {
      const start = writer.length;
      writer.compressedName(textToName(name) ?? new Uint8Array());
      return start;
    });
    const bytes = writer.finish();
    expect(starts.map((start) => nameToText(readName(bytes, start).name))).toEqual(names);
    expect(bytes.length).toBe(12 + 16 + 4 + 10 + 2 + 2 + 1);
  });
});

describe("a name as text", () => {
  it.each([
    [".", "."],
    ["example.test.", "example.test"],
    ["_dmarc.example.test", "_dmarc.example.test"],
    ["a\\.b.test", "a\\.b.test"],
    ["a\\046b.test", "a\\.b.test"],
    ["\\000\\255\\032.test", "\\000\\255\\032.test"],
    ['\\@\\;\\"\\(.test', '\\@\\;\\"\\(.test'],
    ["*.test", "*.test"],
  ])("%s goes to octets and back", (text, expected) => {
    const name = textToName(text);
    expect(name === null ? null : nameToText(name)).toBe(expected);
  });

  it.each(["", "..", ".a", "a..b", "a\\", "a\\256.test", "ä.test", "a b", "a\tb", "x".repeat(64), "a.".repeat(128)])(
    "%j is none",
    (text) => {
      expect(textToName(text)).toBeNull();
    },
  );

  it("can have 63 octets in a label and 255 in total", () => {
    expect(textToName("x".repeat(63))).toHaveLength(65);
    expect(textToName(`${"abc.".repeat(63)}a`)).toHaveLength(255);
    expect(textToName(`${"abc.".repeat(63)}ab`)).toBeNull();
    expect(textToName("a".repeat(1_000_000))).toBeNull();
  });

  it("equals another name without regard to case, in ASCII only", () => {
    const name = (text: string) => textToName(text) ?? new Uint8Array();
    expect(equalNames(name("WWW.Example.TEST"), name("www.example.test"))).toBe(true);
    expect(equalNames(name("\\200.test"), name("\\232.test"))).toBe(false);
    expect(equalNames(name("[.test"), name("{.test"))).toBe(false);
    expect(nameToText(lowerName(name("A\\200Z.test")))).toBe("a\\200z.test");
  });
});
