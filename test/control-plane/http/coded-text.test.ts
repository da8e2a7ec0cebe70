import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { chooseCoding, type Coding } from "#control-plane/http/accept-encoding.ts";
import { codeText, joinCoded } from "#control-plane/http/coded-text.ts";
import { hasTag } from "#control-plane/http/operations/document.ts";

const TEXT = Buffer.from(`{"data":[${'{"name":"a tool, with words that come again"},'.repeat(2_000)}null]`);
const decode = (coding: Coding, body: Buffer): Buffer => {
  if (coding === "gzip") return gunzipSync(body);
  return coding === "br" ? brotliDecompressSync(body) : body;
};

describe("a text that is compressed once", () => {
  it.each(["", "x", `,"meta":{"request_id":"é"}}`, "y".repeat(65_535), "z".repeat(200_000)])(
    "forms one body with the octets after it, in every coding (%#)",
    async (tail) => {
      const text = codeText(TEXT);
      const after = Buffer.from(tail);
      for (const coding of ["gzip", "br", "identity"] as const) {
        const body = await joinCoded(coding, text, { after });
        expect(decode(coding, body).equals(Buffer.concat([TEXT, after])), coding).toBe(true);
        if (coding !== "identity") expect(body.length).toBeLessThan(after.length + TEXT.length / 20);
      }
    },
  );

  it("can also have octets before it, if the coding allows that", async () => {
    const around = { before: Buffer.from('{"id":7,'), after: Buffer.from("}") };
    const whole = Buffer.concat([around.before, TEXT, around.after]);
    expect(gunzipSync(await joinCoded("gzip", codeText(TEXT), around)).equals(whole)).toBe(true);
    expect((await joinCoded("identity", codeText(TEXT), around)).equals(whole)).toBe(true);
    await expect(joinCoded("br", codeText(TEXT), around)).rejects.toThrow(
      "brotli bodies cannot have octets before the text",
    );
  });

  it("can be empty", async () => {
    for (const coding of ["gzip", "br"] as const) {
      expect(decode(coding, await joinCoded(coding, codeText(Buffer.alloc(0)))).length, coding).toBe(0);
    }
  });
});

it.each<[string | undefined, Coding]>([
  [undefined, "identity"],
  ["", "identity"],
  ["gzip", "gzip"],
  ["gzip, deflate, br, zstd", "br"],
  ["deflate, zstd", "identity"],
  ["GZIP;Q=1", "gzip"],
  ["x-gzip", "gzip"],
  ["br;q=0, gzip", "gzip"],
  ["br;q=0.5, gzip;q=0.8", "gzip"],
  ["br;q=0, gzip;q=0", "identity"],
  ["*", "br"],
  ["*;q=0.1", "br"],
  ["*, br;q=0", "gzip"],
  ["gzip;q=0.5, *;q=0", "gzip"],
  ["gzip;q=0.5, identity", "identity"],
  ["identity;q=0", "identity"],
  ["identity;q=0, *", "br"],
  ["*;q=0", "identity"],
  ["gzip;q=2", "identity"],
  ["gzip;q=", "identity"],
  ["br;q=0.001", "br"],
  [" gzip ; q=1.000 ,, ", "gzip"],
])("of Accept-Encoding %j comes %s", (field, coding) => {
  expect(chooseCoding(field)).toBe(coding);
});

it.each<[string | undefined, boolean]>([
  [undefined, false],
  ['"abc"', true],
  ['W/"abc"', true],
  ['"x", W/"abc"', true],
  ["*", true],
  ['"abc.gzip"', false],
  ["abc", false],
])("of If-None-Match %j the tag abc is matched: %s", (field, matches) => {
  expect(hasTag(field, "abc")).toBe(matches);
});
