import { afterAll } from "vitest";

/** What tests start: it is ended by one of these methods. */
type Started = { end(): Promise<unknown> } | { stop(): unknown } | { close(): unknown } | { drop(): Promise<unknown> };

/**
 * Ends what a test file has started as it was loaded, after its tests, the latest first. Only for what lives and dies
 * with the process of the tests: where no test of a file is run, its hooks are not either.
 */
export async function stopAfterAll<T extends Started>(starting: T | Promise<T>): Promise<T> {
  const started = await starting;
  afterAll(async () => {
    if ("end" in started) await started.end();
    else if ("stop" in started) await started.stop();
    else if ("close" in started) await started.close();
    else await started.drop();
  });
  return started;
}
