import { expect, it } from "vitest";
import { check } from "#shared/tools/check/contract.ts";
import { ping } from "#shared/tools/ping/contract.ts";
import { measurementBody } from "#control-plane/checks/measurements/body-schema.ts";

it("the body of a measurement is exactly one of the tools' schemas, selected by the field tool", () => {
  const body = measurementBody([check, ping]);
  const { discriminator } = body as unknown as { discriminator: { propertyName: string; mapping: object } };
  expect((body as unknown as { oneOf: unknown[] }).oneOf).toHaveLength(2);
  expect(discriminator.propertyName).toBe("tool");
  expect(Object.keys(discriminator.mapping)).toEqual(["check", "ping"]);
});
