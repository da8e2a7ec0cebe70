import { expect, it } from "vitest";
import {
  BATCH_RUNS,
  finishBatch,
  insertBatch,
  writeResults,
  type NewResult,
} from "#control-plane/checks/batches/store.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const NOW = new Date("2026-01-01T00:00:00Z");

const { sql } = await stopAfterAll(openDatabase());
const [row] = await sql<{ id: number }[]>`
  insert into accounts (plan, created_at, updated_at) values ('pro', ${NOW}, ${NOW}) returning id`;
const accountId = row?.id ?? 0;

/** Runs a batch with these results to its end. Returns its final status. */
async function finish(id: string, results: readonly Omit<NewResult, "ordinal" | "durationMs">[]) {
  const batch = { id, accountId, tool: "check", invalid: "[]", createdAt: NOW, expiresAt: NOW };
  const targets = results.map((_result, original) => ({ url: `http://${original}.example/`, original }));
  await insertBatch(sql, batch, targets);
  const claimed = await BATCH_RUNS.claim(sql, id, NOW);
  if (claimed === null) throw new Error("not claimed");
  const written = results.map((result, ordinal) => ({ ...result, ordinal, durationMs: 1 }));
  expect(await writeResults(sql, claimed, written)).toBe(true);
  return finishBatch(sql, claimed, NOW);
}

it("a batch fails if no target had a probe, regardless of the text of the errors", async () => {
  const unavailable = { code: "probe_unavailable", message: "No probe." };
  const reversed = JSON.stringify({ message: "No probe.", code: "probe_unavailable" });
  const failed = { status: "failed", isUnanswered: true } as const;
  expect(await finish("none", [{ ...failed, result: JSON.stringify(unavailable) }])).toBe("failed");
  expect(await finish("other-order", [{ ...failed, result: reversed }])).toBe("failed");
  const answered = { status: "failed", isUnanswered: false, result: '{"code":"request_failed"}' } as const;
  expect(await finish("one", [{ ...failed, result: reversed }, answered])).toBe("completed");
});

it("an answer with the text of our own error still counts as an answer", async () => {
  const result = JSON.stringify({ code: "probe_unavailable", message: "from the target" });
  expect(await finish("words", [{ status: "failed", isUnanswered: false, result }])).toBe("completed");
});
