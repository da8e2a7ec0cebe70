import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Value } from "typebox/value";
import { CONTRACTS } from "#shared/tools/index.ts";
import { comparable, callEverySurface } from "#test/support/surfaces.ts";
import { freePort } from "#test/support/free-port.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";
import { startStandInService, type StandInService } from "#test/support/stand-in-service.ts";
import { TOOL_CALLS } from "#test/support/tool-calls.ts";

/** Maximum length of a result in characters. */
const MOST = 256 * 1024;
/**
 * Tools whose result depends on times (points, or how much is found within the deadline), so that on a busy machine one
 * surface may get another result.
 */
const HELD_TO_TIME = new Set(["health", "performance", "ssl"]);

let service: StandInService;
let key: string;
let rawSockets: boolean;

beforeAll(async () => {
  [service, rawSockets] = await Promise.all([startStandInService(), hasRawSockets()]);
  key = await service.plane.createKey();
});

afterAll(() => service?.stop());

it("every tool of the catalogue has its calls", () => {
  expect(Object.keys(TOOL_CALLS)).toEqual(expect.arrayContaining(CONTRACTS.map(({ name }) => name)));
});

describe("one call has the same data on every surface, and the data matches its contract", () => {
  for (const contract of CONTRACTS) {
    it(`of ${contract.name}`, { retry: HELD_TO_TIME.has(contract.name) ? 2 : 0 }, async () => {
      const params = TOOL_CALLS[contract.name]?.good(service.world) ?? {};
      const answers = await callEverySurface(service.plane, key, contract, params);
      if (TOOL_CALLS[contract.name]?.needsRawSockets === true && !rawSockets) {
        const unable = { error: { code: "request_failed", source: "probe", reason: "unsupported" } };
        expect([...answers.values()]).toMatchObject([...answers].map(() => unable));
        return;
      }
      const data = Array.from(answers, ([surface, answer]) => {
        if (!("data" in answer)) throw new Error(`${surface}: ${JSON.stringify(answer.error)}`);
        expect(Array.from(Value.Errors(contract.result, answer.data)), surface).toEqual([]);
        expect(JSON.stringify(answer.data).length, surface).toBeLessThanOrEqual(MOST);
        return [surface, comparable(answer.data)];
      });
      expect(data).toEqual(data.map(([surface]) => [surface, data[0]?.[1]]));
      expect(data).toHaveLength(contract.open === undefined ? 3 : 4);
    });
  }
});

describe("a failed call has the same error on every surface", () => {
  for (const contract of CONTRACTS) {
    const dead = TOOL_CALLS[contract.name]?.dead;
    if (typeof dead !== "function") continue;
    it(`of ${contract.name}`, async () => {
      const port = await freePort();
      const params = dead({ url: `https://shop.test:${port}/`, port });
      const answers = await callEverySurface(service.plane, key, contract, params);
      const errors = Array.from(answers, ([surface, answer]) => {
        if (!("error" in answer)) throw new Error(`${surface}: ${JSON.stringify(answer)}`);
        const { code, stage, source, reason } = answer.error;
        return [surface, { code, stage, source, reason }] as const;
      });
      expect(errors[0]?.[1]).toMatchObject({
        code: "request_failed",
        source: TOOL_CALLS[contract.name]?.deadSource ?? "target",
      });
      expect(errors).toEqual(errors.map(([surface]) => [surface, errors[0]?.[1]]));
    });
  }
});
