import { openSync, writeSync } from "node:fs";
import { noteOf, type JobSeen, type ResultSent } from "#test/fleet/records.ts";

/** Notes of the agents of one process, in a file that outlives the process. */
export interface Notebook {
  /** Records a received job. Written with the next result, or by `flush`. */
  saw(job: JobSeen): void;
  /** Records a result. It is in the file before this returns, because the result must not be sent before. */
  sends(result: ResultSent): void;
  flush(): void;
}

/** Opens a notebook. A kill -9 loses jobs that were received since the last flush, and no results. */
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
