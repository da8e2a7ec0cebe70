import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Value } from "typebox/value";
import type { Contract } from "#shared/tools/define.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";
import { startStandInService, type StandInService } from "#test/support/stand-in-service.ts";
import { TOOL_CALLS } from "#test/support/tool-calls.ts";

interface Job {
  readonly status: string;
  readonly poll_url: string;
  readonly results: readonly { readonly url: string; readonly status: string; readonly data?: unknown }[];
}

/** A batch has only targets, and here these servers do not listen on the default port of the tool. */
const ON_ANOTHER_PORT = new Set(["ssl", "smtp-test"]);
const WITH_TARGET = CONTRACTS.filter(({ target }) => target !== null);

let service: StandInService;
let key: string;
let jobs: ReadonlyMap<Contract, { readonly url: string; readonly made: Job }>;

beforeAll(async () => {
  service = await startStandInService();
  key = await service.plane.createKey();
  const made = WITH_TARGET.map(async (contract) => {
    const url = String(TOOL_CALLS[contract.name]?.good(service.world)[contract.target?.param ?? ""]);
    const answer = await service.plane.call("/api/v4/batch", { key, body: { type: contract.name, urls: [url] } });
    if (answer.status !== 202) throw new Error(`${contract.name}: ${answer.text}`);
    return [contract, { url, made: answer.body.data }] as const;
  });
  jobs = new Map(await Promise.all(made));
});

afterAll(() => service?.stop());

describe("a batch of one target completes with", () => {
  it.each(WITH_TARGET.map((contract) => [contract.name, contract] as const))("%s", async (name, contract) => {
    const { url, made } = jobs.get(contract) ?? { url: "", made: null };
    let job: Job | null = made;
    const readStatus = async (): Promise<string> => {
      job = (await service.plane.call(made?.poll_url ?? "", { key })).body.data as Job;
      return job.status;
    };
    await expect.poll(readStatus, { interval: 100 }).toBe("completed");
    const isUnable = TOOL_CALLS[name]?.needsRawSockets === true && !(await hasRawSockets());
    expect(job?.results).toMatchObject([{ url, status: ON_ANOTHER_PORT.has(name) || isUnable ? "failed" : "ok" }]);
    const [result] = job?.results ?? [];
    if (result?.status === "ok") expect(Array.from(Value.Errors(contract.result, result.data))).toEqual([]);
  });

  it("a tool without a target has no batch", async () => {
    for (const { name, target } of CONTRACTS) {
      if (target !== null) continue;
      const { status, body } = await service.plane.call("/api/v4/batch", { key, body: { type: name, urls: ["a"] } });
      expect([status, body.error]).toMatchObject([400, { field: "type", reason: "enum" }]);
    }
  });
});
