import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readExport } from "#shared/audit/read-export.ts";
import { kidOf, signPayload } from "#shared/audit/signature.ts";
import { verifyExport } from "#shared/audit/verify.ts";

const SECRET = "vas_of the tests ü";
const TS = 1_767_225_600;
const PAYLOAD = { type: "tenant", account_id: 7, monitors: [{ id: 1, uptime: 99.95, name: "a\n€" }], b: null };

const signed = { data: PAYLOAD, sig: signPayload(PAYLOAD, SECRET, TS) };
const read = (text: string) => readExport(Buffer.from(text));

/** Returns the verdict about a text, or why it is no export. */
function judge(text: string, secret = SECRET): string {
  const result = read(text);
  return result.ok ? verifyExport(result.signed, secret) : result.message;
}

describe("a signature", () => {
  it("is the HMAC-SHA256 over <ts>.<canonical form> with the bytes of the secret, and names it", () => {
    const canonical = '{"account_id":7,"b":null,"monitors":[{"id":1,"name":"a\\n€","uptime":99.95}],"type":"tenant"}';
    const value = createHmac("sha256", Buffer.from(SECRET)).update(`${TS}.${canonical}`).digest("hex");
    expect(signed.sig).toEqual({ v: 1, alg: "HMAC-SHA256", kid: kidOf(SECRET), ts: TS, value });
    // printf abc | sha256sum
    expect(kidOf("abc")).toBe("ba7816bf");
  });

  it("is valid for the whole response, for its data, and for other whitespace and order", () => {
    const { type, ...rest } = PAYLOAD;
    const reordered = { sig: signed.sig, data: { ...rest, type } };
    for (const whole of [signed, { data: signed, meta: { request_id: "x" } }, reordered]) {
      expect(judge(JSON.stringify(whole))).toBe("valid");
      expect(judge(`\ufeff${JSON.stringify(whole, null, 2)}\n`)).toBe("valid");
    }
    expect(judge(JSON.stringify(signed).replace("99.95", "9995e-2"))).toBe("valid");
  });

  it("is not valid for anything else", () => {
    const { data, sig } = signed;
    const changed = [
      { data: { ...data, account_id: 8 }, sig },
      { data: { ...data, c: null }, sig },
      { data: { ...data, monitors: [] }, sig },
      { data, sig: { ...sig, ts: TS + 1 } },
      { data, sig: { ...sig, value: sig.value.replace(/^./, (digit) => (digit === "0" ? "1" : "0")) } },
      { data: { ...data, type: "half \ud800" }, sig },
    ];
    for (const one of changed) expect(judge(JSON.stringify(one))).toBe("changed");
    expect(judge(JSON.stringify(signed), `${SECRET}.`)).toBe("other_secret");
    expect(judge(JSON.stringify({ data, sig: { ...sig, kid: "00000000" } }))).toBe("other_secret");
  });
});

describe("a file", () => {
  const text = JSON.stringify(signed);

  it.each([
    ["", "it is not JSON in UTF-8"],
    [text.slice(0, -1), "it is not JSON in UTF-8"],
    ["[]", "it is no response of GET /api/v4/audit-export: data and sig are missing"],
    ['{"error":{"code":"plan_restricted"}}', "it is no response of GET /api/v4/audit-export: data and sig are missing"],
    [
      JSON.stringify({ ...signed, data: [] }),
      "it is no response of GET /api/v4/audit-export: data and sig are missing",
    ],
    [text.replace('"v":1', '"v":2'), "sig.v must be 1"],
    [text.replace("HMAC-SHA256", "none"), "sig.alg must be HMAC-SHA256"],
    [text.replace(/"kid":"./, '"kid":"X'), "sig.kid must be 8 lower-case hex digits"],
    [text.replace(`"ts":${TS}`, '"ts":1.5'), "sig.ts must be Unix seconds"],
    [text.replace(`"ts":${TS}`, `"ts":"${TS}"`), "sig.ts must be Unix seconds"],
    [text.replace(/"value":"./, '"value":"F'), "sig.value must be 64 lower-case hex digits"],
    ['{"data":'.repeat(200) + "1" + "}".repeat(200), "it is nested deeper than 128 levels"],
  ])("that is no export is refused: %s", (given, why) => expect(judge(given)).toBe(why));

  it("in which an object has a key twice is refused, although the signature of one reading is valid", () => {
    const twice = text.replace('{"type":"tenant"', '{"type":"monitor","type":"tenant"');
    expect(JSON.parse(twice)).toEqual(signed);
    expect(judge(twice)).toBe('the key "type" is there twice in one object');
    expect(judge(text.replace('"name":', String.raw`"n\u0061me":"other","name":`))).toBe(
      'the key "name" is there twice in one object',
    );
    expect(judge(text.replace('{"v":1', '{"v":0,"v":1'))).toBe('the key "v" is there twice in one object');
  });

  it.each(["7.0000000000000000001", "7000000000000000000001e-21", "1e400", "1e-400", "9007199254740993"])(
    "with a number that readers understand differently is refused: %s",
    (token) => {
      expect(judge(text.replace('"account_id":7', `"account_id":${token}`))).toBe(
        `the number ${token} is not the same for every reader of JSON`,
      );
    },
  );

  it("can have every number that a double holds", () => {
    const numbers = [
      0,
      -0,
      1e21,
      5e-324,
      1.7976931348623157e308,
      295147905179352830000,
      2 ** 53,
      -(2 ** 70),
      0.1 + 0.2,
    ];
    const payload = { ...PAYLOAD, numbers };
    const sig = signPayload(payload, SECRET, TS);
    expect(judge(JSON.stringify({ data: payload, sig }))).toBe("valid");
    // As other programs write them.
    for (const [mine, others] of [
      ["1e+21", "1000000000000000000000"],
      ["0.30000000000000004", "3.0000000000000004E-1"],
      ["9007199254740992", "9007199254740992.0"],
    ] as const) {
      const rewritten = JSON.stringify({ data: payload, sig }).replace(mine, others);
      expect(rewritten).toContain(others);
      expect(judge(rewritten)).toBe("valid");
    }
  });

  it("of another encoding is refused", () => {
    expect(readExport(Buffer.from(text, "utf16le"))).toMatchObject({ ok: false });
    expect(readExport(Buffer.concat([Buffer.from(text), Buffer.from([0xff])]))).toMatchObject({ ok: false });
  });
});
