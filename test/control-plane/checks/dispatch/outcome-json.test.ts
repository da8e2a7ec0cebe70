import { describe, expect, it } from "vitest";
import { failed, ok, refused } from "#shared/contracts/outcome.ts";
import { readOutcome } from "#control-plane/checks/dispatch/receive-message.ts";

const read = (outcome: unknown) => readOutcome(JSON.stringify(outcome));

describe("an outcome of an agent", () => {
  it.each([
    ok({ a: 1 }),
    refused,
    failed("dns", "resolver", "nxdomain", "the name does not exist"),
    { status: "invalid", field: "url", message: "is not a URL" },
  ])("is read as it was sent: %j", (outcome) => {
    expect(read(outcome)).toEqual(outcome);
  });

  it("has a message of one printable line, and no other fields", () => {
    const message = "a\u0000b\ud800\r\nForged: line\u001b[31m\u202ec";
    const clean = "a b\ufffd Forged: line [31m c";
    expect(read({ ...failed("dns", "probe", "x", message), more: "\u0000" })).toEqual(
      failed("dns", "probe", "x", clean),
    );
    expect(read({ status: "invalid", field: "url", message, more: 1 })).toEqual({
      status: "invalid",
      field: "url",
      message: clean,
    });
    expect(read({ status: "refused", more: 1 })).toEqual(refused);
  });

  it.each([
    { ...failed("dns", "probe", "x", "y"), stage: ["dns"] },
    { ...failed("dns", "probe", "x", "y"), source: ["probe"] },
    { ...failed("dns", "probe", "x", "y"), reason: ["x"] },
    { ...failed("dns", "probe", "x", "y"), reason: "\u0000" },
    { ...failed("dns", "probe", "x", "y"), message: "z".repeat(1_001) },
    { ...failed("dns", "probe", "x", "y"), message: 5 },
    { status: "invalid", field: "\u0000", message: "y" },
    { status: "ok", data: null },
    { status: "fine" },
    [],
    null,
  ])("of another form is a failure of the probe: %j", (outcome) => {
    expect(read(outcome)).toMatchObject({ status: "failed", source: "probe", reason: "invalid_result" });
  });
});
