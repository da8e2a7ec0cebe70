import { describe, expect, it } from "vitest";
import { createRedact, secretValues } from "#shared/text/redact.ts";

const SECRET = "s3cret-Token/7";
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const percent = (text: string): string =>
  [...Buffer.from(text)].map((octet) => `%${octet.toString(16).padStart(2, "0")}`).join("");
const escaped = (text: string): string =>
  Array.from(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

const redact = (words: string, ...secrets: readonly string[]): string => createRedact(secrets)(words);

describe("words of a target", () => {
  it.each<[string, string, string, string]>([
    ["a whole secret", SECRET, `no: ${SECRET}!`, "no: ***!"],
    ["eight octets of one", SECRET, "no: 3cret-To!", "no: ***!"],
    ["seven octets of one", SECRET, "no: 3cret-T!", "no: 3cret-T!"],
    ["another case", SECRET, SECRET.toUpperCase(), SECRET.toUpperCase()],
    ["parts one after the other", SECRET, `${SECRET}${SECRET}`, "***"],
    ["two parts", SECRET, `${SECRET} and s3cret-T`, "*** and ***"],
    ["a short secret", "hunt", "bad hunter", "bad ***er"],
    ["a part of a short secret", "hunter2", "bad hunter", "bad hunter"],
    ["a secret of three octets", "abc", "abc", "abc"],
    ["percent-encoding", SECRET, `/?q=${percent(SECRET)}&x`, "/?q=***&x"],
    ["some percent-encoding", SECRET, "/?q=s3cret%2DToken%2f7", "/?q=***"],
    ["percent-encoding of a short secret", "a b/c", "q=a%20b%2Fc", "q=***"],
    ["a percent sign alone", "100% sure of it", "100% sure", "***"],
    ["escapes of JSON", SECRET, `"${escaped(SECRET)}"`, '"***"'],
    ["a slash escaped for JSON", "AUTH /key/9\r\n", String.raw`"AUTH \/key\/9\r\n"`, '"***"'],
    ["a pair of surrogates in JSON", "key 🔑 x", String.raw`key \ud83d\udd11 x`, "***"],
    ["base64", SECRET, `got ${base64(SECRET)}`, "got ***="],
    ["base64 after one more octet", SECRET, `got ${base64(`x${SECRET}`)}`, "got e***"],
    ["base64 after two more octets", SECRET, `got ${base64(`xy${SECRET}`)}`, "got eH***=="],
    [
      "base64url",
      "?".repeat(6) + SECRET,
      `got ${Buffer.from("?".repeat(6) + SECRET).toString("base64url")}`,
      "got ***",
    ],
    ["base64 of a short secret", "hunter2", `got ${base64("hunter2")}`, "got ***=="],
    ["what a secret has in base64", `Basic ${base64("user:s3cret")}`, "user:s3cret is wrong", "*** is wrong"],
    ["what a short one has in base64", `Basic ${base64("u:key")}`, "u:key is wrong", "*** is wrong"],
    ["what a secret has percent-encoded", `token=${percent("pass word")}`, "pass word is wrong", "*** is wrong"],
    ["what a secret has in JSON", String.raw`{"key":"a\"b\"c\u00e9d\"e"}`, 'not a"b"céd"e', "not ***"],
    ["a character of several octets", "größer-als-alles", "größer-als", "***"],
    ["a character of which an octet differs", "größer-alä", "größer-alö", "***"],
    ["nothing of it", SECRET, "Connection timed out", "Connection timed out"],
    ["half a pair of surrogates", SECRET, "x\ud83d", "x\ud83d"],
    ["nothing at all", SECRET, "", ""],
  ])("with %s lose it", (_what, secret, words, kept) => {
    expect(redact(words, secret)).toBe(kept);
  });

  it("lose parts of several secrets, of which none is made of two", () => {
    expect(redact("abcdefgh ijklmnop", "abcdefgh", "ijklmnop")).toBe("*** ***");
    expect(redact("efghijkl", "abcdefgh", "ijklmnop")).toBe("efghijkl");
  });

  it("stay as they are without a secret", () => {
    expect(redact(SECRET)).toBe(SECRET);
    expect(redact(SECRET, "", "ab")).toBe(SECRET);
  });

  it("lose the same as by a search at each place", () => {
    const letters = "ab%\\=6";
    let state = 7;
    const random = (length: number): string =>
      Array.from({ length }, () => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
        return letters[(state >>> 16) % letters.length];
      }).join("");
    for (let round = 0; round < 200; round += 1) {
      const secret = `${random(12)} ${random(12)}`;
      const words = `${random(20)}${secret.slice(round % 9, 8 + (round % 17))}${random(20)}`;
      const shown = redact(words, secret);
      for (let at = 0; at + 8 <= shown.length; at += 1) expect(secret).not.toContain(shown.slice(at, at + 8));
    }
  });
});

describe("fields of a request", () => {
  it("are secrets, but for those that describe the client or the body", () => {
    const fields = ["Authorization", "Accept", "accept-Language", "USER-AGENT", "Content-Type", "X-Any"];
    expect(secretValues(fields.map((name) => [name, `value of ${name}`]))).toEqual([
      "value of Authorization",
      "value of X-Any",
    ]);
  });
});
