import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/** A test that failed, or a hook of its file or group. */
export interface Failure {
  readonly test: string;
  /** First line of the error. */
  readonly message: string;
}

/** What one run of one test file gave. */
export interface FileReport {
  /** From the root of the repository. */
  readonly path: string;
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
}

/** What one run of a suite gave. A run that writes none has been cut off. */
export interface RunReport {
  readonly files: readonly FileReport[];
  /** First lines of what failed outside a test: files that could not be loaded, errors that nothing caught. */
  readonly strays: readonly string[];
}

const firstLine = (message: string | undefined): string => (message ?? "").split("\n", 1)[0] ?? "";

function describeFile(module: TestModule): FileReport {
  const tests = [...module.children.allTests()];
  const hooks = [module, ...module.children.allSuites()].flatMap((part) =>
    part.errors().map(({ message }) => ({
      test: part.type === "module" ? "a hook of the file" : `a hook of ${part.fullName}`,
      message: firstLine(message),
    })),
  );
  const failed = tests.flatMap((test) => {
    const { state, errors } = test.result();
    return state === "failed" ? [{ test: test.fullName, message: firstLine(errors[0]?.message) }] : [];
  });
  return {
    path: module.relativeModuleId,
    passed: tests.filter((test) => test.result().state === "passed").length,
    // A test that never ran, because a hook failed or its worker was killed, is no better than one that is skipped.
    skipped: tests.filter((test) => ["skipped", "pending"].includes(test.result().state)).length,
    failures: [...hooks, ...failed],
  };
}

/** What vitest says of a worker that Node ended by itself, such as on a failed assertion of its own. */
const ABORTED = /^Worker exited unexpectedly with signal SIGABRT .* while running test file (.+)$/;

/** Returns the file during which a worker was aborted; null: an error is about something else. */
function abortedIn(error: { readonly cause?: unknown }, root: string): FileReport | null {
  const message = firstLine((error.cause as { readonly message?: string } | undefined)?.message);
  const path = ABORTED.exec(message)?.[1];
  return path === undefined
    ? null
    : { path: relative(root, path), passed: 0, skipped: 0, failures: [{ test: "its process", message }] };
}

/** Creates a reporter that writes a RunReport to this path when the run has ended. */
export function createReporter(path: string): Reporter {
  return {
    onTestRunEnd(modules, unhandled) {
      const root = modules[0]?.project.config.root ?? "";
      const aborted = unhandled.flatMap((error) => abortedIn(error, root) ?? []);
      const isAborted = (module: TestModule) => aborted.some(({ path: file }) => file === module.relativeModuleId);
      // A file without tests is one that could not be loaded: its error is not that of a hook.
      const unloaded = modules.filter((module) => module.children.size === 0 && !isAborted(module));
      const report: RunReport = {
        files: [
          ...modules.filter((module) => !unloaded.includes(module) && !isAborted(module)).map(describeFile),
          ...aborted,
        ],
        strays: [
          ...unloaded.flatMap((module) =>
            module.errors().map(({ message }) => `${module.relativeModuleId}: ${firstLine(message)}`),
          ),
          ...unhandled.filter((error) => abortedIn(error, root) === null).map(({ message }) => firstLine(message)),
        ],
      };
      writeFileSync(path, JSON.stringify(report));
    },
  };
}

/** Returns the reporters of a suite: vitest's own, and where the gate asks for a report, the one that writes it. */
export function gateReporters(): { readonly reporters?: (string | Reporter)[] } {
  const path = process.env["TEST_REPORT"];
  return path === undefined ? {} : { reporters: ["default", createReporter(path)] };
}
