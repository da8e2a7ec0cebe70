import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { signLegacy, signStandard, signV2 } from "#shared/webhooks/signature.ts";

const BODY = '{"id":"evt_1","name":"Größe"}';

it("signs time and body with the secret as shown", () => {
  const expected = createHmac("sha256", Buffer.from("s3cret-of-mine", "utf8"))
    .update(`1700000000.${BODY}`)
    .digest("hex");
  expect(signV2("s3cret-of-mine", 1_700_000_000, BODY)).toBe(`sha256=${expected}`);
  expect(signV2("s3cret-of-mine", 1_700_000_000, Buffer.from(BODY))).toBe(`sha256=${expected}`);
});

it("signs the body alone for the legacy header", () => {
  const expected = createHmac("sha256", "s3cret-of-mine").update(BODY).digest("hex");
  expect(signLegacy("s3cret-of-mine", BODY)).toBe(`sha256=${expected}`);
});

it("signs as the example of the Standard Webhooks reference libraries", () => {
  // The test vector of the reference libraries (standard-webhooks, libraries/javascript/src/index.test.ts).
  const signature = signStandard(
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "msg_p5jXN8AQM9LWM0D4loKWxJek",
    1_614_265_330,
    '{"test": 2432232314}',
  );
  expect(signature).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

it("uses the bytes of a secret that has no prefix", () => {
  const expected = createHmac("sha256", "s3cret-of-mine").update(`evt_1.1700000000.${BODY}`).digest("base64");
  expect(signStandard("s3cret-of-mine", "evt_1", 1_700_000_000, BODY)).toBe(`v1,${expected}`);
});
