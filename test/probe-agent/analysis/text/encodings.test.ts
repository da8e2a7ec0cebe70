import { expect, describe, it } from "vitest";
import { decodeText, encodingOf } from "#probe-agent/analysis/text/encodings.ts";
import { readPage } from "#probe-agent/analysis/html/read-page.ts";

/** Texts and their octets as encoded by CPython 3.11 (EUC-KR as cp949, Shift_JIS as cp932, Big5 as HKSCS). */
const TEXTS: readonly (readonly [encoding: string, text: string, octets: string])[] = [
  [
    "big5",
    "繁體中文網頁，許功蓋的「功」字。香港：嘅、咗、唔、喺、啲、嚟。",
    "c163c5e9a4a4a4e5baf4adb6a141b35ca55cbb5caabaa175a55ca176a672a143adbbb4e4a1479defa1429df7a142adf8a1429df6a1429df8a14291c1a143",
  ],
  ["gbk", "简体中文：编码、测试", "bcf2cce5d6d0cec4a3bab1e0c2eba1a2b2e2cad4"],
  ["gb18030", "简体中文：𠀀 㐀 한국", "bcf2cce5d6d0cec4a3ba95328236208139ee3920833684338237f430"],
  ["euc-kr", "한글 웹 똠방각하, 펲시", "c7d1b1db20c0a520 8c63b9e6b0a2c7cf2c20 bc84bdc3"],
  ["shift_jis", "日本語のページ：ソ能表①㈱髙", "93fa967b8cea82cc8379815b83578146835c945c955c8740878afbfc"],
  ["euc-jp", "日本語：文字化け｡ﾊﾝｶｸ", "c6fccbdcb8eca1a7cab8bbfab2bda4b18ea18eca8edd8eb68eb8"],
  ["iso-2022-jp", "日本語のメール 表示", "1b2442467c4b5c386c244e2561213c256b1b2842201b2442493d3c281b2842"],
  ["windows-1250", "Příliš žluťoučký kůň – „ęą“", "50f8ed6c699a209e6c759d6f75e86bfd206bf9f220962084eab993"],
  ["windows-1251", "Съешь ещё булок — №5", "d1fae5f8fc20e5f9b820e1f3ebeeea209720b935"],
  ["windows-1252", "“café” – naïve €5 œuvre", "93636166e9942096206e61ef7665208035209c75767265"],
  ["windows-1253", "Καλημέρα κόσμε – Ά", "cae1ebe7ecddf1e120eafcf3ece5209620a2"],
  ["windows-1254", "Türkçe: ığüşöç İ", "54fc726be7653a20fdf0fcfef6e720dd"],
  ["windows-1255", "שלום עולם ₪", "f9ece5ed20f2e5eced20a4"],
  ["windows-1256", "مرحبا بالعالم پچ", "e3d1cdc8c720c8c7e1dac7e1e320818d"],
  ["windows-1257", "Labdien, ąčęėįšųūž", "4c61626469656e2c20e0e8e6ebe1f0f8fbfe"],
  ["windows-1258", "Đây là ơư ₫", "d0e279206ce020f5fd20fe"],
  ["windows-874", "สวัสดีชาวโลก € “ไทย”", "cac7d1cab4d5aad2c7e2c5a120802093e4b7c294"],
  ["koi8-r", "Привет, мир ё", "f0d2c9d7c5d42c20cdc9d220a3"],
  ["koi8-u", "Привіт, їжак ґ є", "f0d2c9d7a6d42c20a7d6c1cb20ad20a4"],
  ["ibm866", "Привет ё ╔═╗", "8fe0a8a2a5e220f120c9cdbb"],
  ["macintosh", "café “naïve” ﬁ", "6361668e20d26e61957665d320de"],
  ["x-mac-cyrillic", "Привет ё", "8ff0e8e2e5f220de"],
  ["iso-8859-2", "Zażółć gęślą jaźń", "5a61bff3b3e62067eab66cb1206a61bcf1"],
  ["iso-8859-3", "Ĉiuj ĝojas ħ", "c669756a20f86f6a617320b1"],
  ["iso-8859-4", "Ķīļš ņ ŧ", "d3efb6b920f120bc"],
  ["iso-8859-5", "Привет ё №", "bfe0d8d2d5e220f120f0"],
  ["iso-8859-6", "مرحبا", "e5d1cdc8c7"],
  ["iso-8859-7", "Καλημέρα €", "cae1ebe7ecddf1e120a4"],
  ["iso-8859-8", "שלום", "f9ece5ed"],
  ["iso-8859-8-i", "שלום", "f9ece5ed"],
  ["iso-8859-10", "Þórr ąšđ", "def3727220b1bab9"],
  ["iso-8859-13", "ąčęłń", "e0e8e6f9f1"],
  ["iso-8859-14", "Ŵŷ Ḃ ẁ", "d0fe20a120b8"],
  ["iso-8859-15", "œuvre €", "bd7576726520a4"],
  ["iso-8859-16", "Ștefan țară €", "aa746566616e20fe6172e320a4"],
  ["utf-16be", "中文 ñ 😀", "4e2d6587002000f10020d83dde00"],
  ["utf-16le", "中文 ñ 😀", "2d4e87652000f10020003dd800de"],
  ["utf-8", "中文 ñ 😀", "e4b8ade6968720c3b120f09f9880"],
  ["x-user-defined", "a\u{F780}\u{F7FF}", "6180ff"],
];

const octetsOf = (hex: string): Buffer => Buffer.from(hex.replaceAll(" ", ""), "hex");

describe("text of every encoding of the standard", () => {
  it.each(TEXTS)("%s", (encoding, text, hex) => {
    expect(decodeText(octetsOf(hex), encoding)).toBe(text);
    const type = `text/html; charset=${encoding}`;
    const page = Buffer.concat([wide("<title>", encoding), octetsOf(hex), wide("</title>", encoding)]);
    expect(readPage(page, type).facts.title).toBe(text);
  });

  /** Encodes ASCII text. */
  function wide(ascii: string, encoding: string): Buffer {
    if (encoding === "utf-16le") return Buffer.from(ascii, "utf16le");
    return encoding === "utf-16be" ? Buffer.from(ascii, "utf16le").swap16() : Buffer.from(ascii, "latin1");
  }

  it("keeps ASCII in all encodings except the replacement encoding (Encoding Standard, 14.1)", () => {
    for (const label of ["hz-gb-2312", "iso-2022-cn", "iso-2022-kr", "csiso2022kr", "replacement"]) {
      expect(encodingOf(label)).toBe("replacement");
    }
    expect(readPage(Buffer.from("<title>~{VPND~}"), "text/html; charset=hz-gb-2312").text).toBe("\u{FFFD}");
    expect(decodeText(new Uint8Array(), "replacement")).toBe("");
  });
});

describe("Big5 and its neighbours by the standard's index, not the runtime's tables", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["big5", "8740", "䏰"], // HKSCS, which ICU maps to a private-use code point
    ["big5", "8862", "Ê̄"], // one of four pointers that decode to two code points
    ["big5", "a145", "‧"],
    ["big5", "a3e1", "€"],
    ["big5", "a15c", "﹏"],
    ["big5", "815c", "\u{FFFD}\\"], // an error leaves the ASCII octet in place
    ["big5", "a1", "\u{FFFD}"],
    ["euc-kr", "8141", "갂"], // ICU's euc-kr ends at KS X 1001
    ["shift_jis", "5c7e", "\\~"],
    ["shift_jis", "f040", "\u{E000}"],
    ["gbk", "80", "€"],
    ["gb18030", "a8bf", "ǹ"],
    ["windows-1252", "80819f", "€\u{81}Ÿ"],
  ];
  it.each(rows)("%s %s is %s", (encoding, hex, text) => {
    expect(decodeText(octetsOf(hex), encoding)).toBe(text);
  });

  it("keeps a character whose octets are in two chunks of the parser's input", () => {
    const body = Buffer.concat([
      Buffer.from("<meta charset=big5><p>x"),
      ...Array.from({ length: 30_000 }, () => octetsOf("9def")),
    ]);
    const { text, charset } = readPage(body, null);
    expect(charset).toEqual({ encoding: "big5", source: "meta" });
    expect(text.slice(-30_000)).toBe("嘅".repeat(30_000));
  });
});

it("accepts the labels of the standard, ignoring case and white space around them", () => {
  const labels: readonly (readonly [string, string | null])[] = [
    ["Big5-HKSCS", "big5"],
    ["cn-big5", "big5"],
    ["x-x-big5", "big5"],
    [" GB2312\t", "gbk"],
    ["ks_c_5601-1987", "euc-kr"],
    ["x-sjis", "shift_jis"],
    ["latin1", "windows-1252"],
    ["us-ascii", "windows-1252"],
    ["tis-620", "windows-874"],
    ["unicode", "utf-16le"],
    ["x-user-defined", "x-user-defined"],
    ["utf-7", null],
    ["utf-32", null],
    ["", null],
  ];
  expect(labels.map(([label]) => [label, encodingOf(label)])).toEqual(labels);
});
