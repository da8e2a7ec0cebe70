import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT } from "#test/laws/source-files.ts";

it("a server that cuts its header block off does not end the process", async () => {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ["--expose-gc", `${ROOT}/test/support/torn-heads.ts`]);
  expect(stdout).toBe("alive");
});
