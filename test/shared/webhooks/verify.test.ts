import { describe, expect, it } from "vitest";
import { signStandard, signV2 } from "#shared/webhooks/signature.ts";
import { verifyDelivery, type DeliveryVerdict } from "#shared/webhooks/verify.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const BODY = '{"id":"evt_1","name":"Größe"}';
const AT = 1_800_000_000;

type Headers = Record<string, string | undefined>;

/** The headers of a delivery; further secrets are those before the first. */
function signed(secrets: readonly [string, ...string[]] = [SECRET], timestamp = AT): Headers {
  const [secret, previous] = secrets;
  return {
    "content-type": "application/json",
    "x-service-timestamp": String(timestamp),
    "x-service-signature-v2": signV2(secret, timestamp, BODY),
    ...(previous === undefined ? {} : { "x-service-signature-v2-previous": signV2(previous, timestamp, BODY) }),
    "webhook-id": "evt_1",
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets.map((one) => signStandard(one, "evt_1", timestamp, BODY)).join(" "),
  };
}

function verify(headers: Headers, { secret = SECRET, body = BODY, seconds = AT } = {}): DeliveryVerdict {
  return verifyDelivery({ headers, body: Buffer.from(body), secret, now: new Date(seconds * 1_000) });
}

describe("a delivery is valid", () => {
  it("if its secret signed it, with or without the prefix of Standard Webhooks", () => {
    expect(verify(signed())).toEqual({ status: "valid" });
    expect(verify(signed(["s3cret-of-mine"]), { secret: "s3cret-of-mine" })).toEqual({ status: "valid" });
  });

  it("for the old and the new secret after a rotation", () => {
    for (const secret of [OTHER, SECRET]) expect(verify(signed([OTHER, SECRET]), { secret }).status).toBe("valid");
  });

  it.each([-300, -1, 0, 300])("at %i s from the receiver's time", (age) => {
    expect(verify(signed(), { seconds: AT + age })).toEqual({ status: "valid" });
  });

  it("if one of the signatures fits: the others may be of unknown versions", () => {
    const headers = signed();
    const entries = ["v2,unknown", "", "v1", "v1,", headers["webhook-signature"]];
    expect(verify({ ...headers, "webhook-signature": entries.join(" ") }).status).toBe("valid");
  });

  it("whatever bytes its body has", () => {
    const body = Uint8Array.from([0xff, 0x00, 0xc3, 0x28]);
    const headers = {
      ...signed(),
      "x-service-signature-v2": signV2(SECRET, AT, body),
      "webhook-signature": signStandard(SECRET, "evt_1", AT, body),
    };
    const now = new Date(AT * 1_000);
    expect(verifyDelivery({ headers, body, secret: SECRET, now })).toEqual({ status: "valid" });
  });
});

describe("a delivery is refused", () => {
  const own = signed();

  it.each([
    ["another secret", {}, { secret: OTHER }, { status: "forged", scheme: "v2" }],
    ["the secret without its prefix", {}, { secret: SECRET.slice(6) }, { status: "forged", scheme: "v2" }],
    ["a changed body", {}, { body: BODY.replace("1", "2") }, { status: "forged", scheme: "v2" }],
    ["a truncated body", {}, { body: BODY.slice(0, -1) }, { status: "forged", scheme: "v2" }],
    ["an empty body", {}, { body: "" }, { status: "forged", scheme: "v2" }],
    ["another id", { "webhook-id": "evt_2" }, {}, { status: "forged", scheme: "standard" }],
    ["301 s of age", {}, { seconds: AT + 301 }, { status: "too_old", seconds: 301 }],
    ["301 s to come", {}, { seconds: AT - 301 }, { status: "too_new", seconds: 301 }],
    ["two times", { "x-service-timestamp": String(AT - 1) }, {}, { status: "different_times" }],
    [
      "a time that was not signed",
      { "x-service-timestamp": String(AT + 1), "webhook-timestamp": String(AT + 1) },
      {},
      { status: "forged", scheme: "v2" },
    ],
  ] as const)("with %s", (_what, headers, options, verdict) => {
    expect(verify({ ...own, ...headers }, options)).toEqual(verdict);
  });

  it.each([
    ["x-service-signature-v2", "v2"],
    ["webhook-signature", "standard"],
  ] as const)("with %s forged, truncated or longer, although the other scheme is right", (name, scheme) => {
    const value = own[name] ?? "";
    const last = value.endsWith("A=") ? "B=" : "A=";
    const flipped =
      scheme === "v2" ? value.replace(/.$/, (digit) => (digit === "0" ? "1" : "0")) : value.slice(0, -2) + last;
    for (const wrong of [flipped, value.slice(0, -1), `${value}=`, value.split(/[=,]/, 1)[0], value.toUpperCase()])
      expect([wrong, verify({ ...own, [name]: wrong })]).toEqual([wrong, { status: "forged", scheme }]);
  });

  it("with the legacy signature alone, which has no time", () => {
    const { "x-service-signature-v2": v2, ...others } = own;
    expect(verify({ ...others, "x-service-signature": v2 })).toEqual({
      status: "missing_header",
      header: "x-service-signature-v2",
    });
  });

  it.each([
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "x-service-timestamp",
    "x-service-signature-v2",
  ] as const)("without %s, which it names", (header) => {
    for (const value of ["", undefined])
      expect(verify({ ...own, [header]: value })).toEqual({ status: "missing_header", header });
  });

  it.each(["0", "-1", "1e9", "0x6b49d200", " 1800000000", "1800000000.0", "1800000000, 1800000000", "9".repeat(400)])(
    "with the timestamp %s, which no delivery has",
    (value) => {
      const headers = { ...own, "x-service-timestamp": value, "webhook-timestamp": value };
      expect(verify(headers).status).toBe("malformed_header");
    },
  );

  it("with headers that are too long, or with more than ten signatures", () => {
    const right = own["webhook-signature"] ?? "";
    const long = "x".repeat(1_025);
    for (const [header, value] of [
      ["webhook-id", long],
      ["x-service-signature-v2", long],
      ["x-service-signature-v2-previous", long],
      ["webhook-signature", `${right} ${long}`],
      ["webhook-signature", `${"v1,x ".repeat(10)}${right}`],
    ] as const)
      expect(verify({ ...own, [header]: value })).toEqual({ status: "malformed_header", header });
    expect(verify({ ...own, "webhook-signature": `${"v1,x ".repeat(9)}${right}` })).toEqual({ status: "valid" });
  });
});
