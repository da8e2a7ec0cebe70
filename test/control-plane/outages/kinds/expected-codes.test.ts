import { expect, it } from "vitest";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";

it.each([
  [null, [[200, 200]]],
  [
    [204, "300-399", "4xx", 999],
    [
      [204, 204],
      [300, 399],
      [400, 499],
      [999, 999],
    ],
  ],
])("the expected statuses %j are these ranges for agents: %j", (expected_codes, expected) => {
  const settings = { ...DEFAULT_SETTINGS, expected_codes };
  expect(kindOf("http").probe?.params("https://example.com/", settings, null)).toMatchObject({ expected });
});
