import { openSync, writeSync } from "node:fs";
import { noteOf, type JobSeen, type ResultSent } from "#test/fleet/records.ts";

/** What the agents of one process note of their doings, in a file that outlives the process. */
export interface Notebook {
  /** Written with the next result, or by `flush`. */
  saw(job: JobSeen): void;
  /** In the file before it returns: the result must not be sent before. */
  sends(result: ResultSent): void;
  flush(): void;
}

/** Begins a notebook. A kill -9 loses what was only seen since the last flush, and nothing that was sent. */
export function openNotebook(path: string): Notebook {
  const file = openSync(path, "wx");
  let pending = "";
  const flush = () => {
    if (pending !== "") writeSync(file, pending);
    pending = "";
  };
  return {
    saw(job) {
      pending += noteOf(job);
    },
    sends(result) {
      pending += noteOf(result);
      flush();
    },
    flush,
  };
}
