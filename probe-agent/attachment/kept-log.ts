import type { AgentMessage } from "#shared/protocol/probe.ts";
import { LOG_LIMITS } from "#shared/protocol/wire.ts";
import type { FlushableStream } from "#shared/process/log.ts";
import { cutLine } from "#shared/text/plain-line.ts";
import type { Redact } from "#shared/text/redact.ts";
import type { JobSource } from "#probe-agent/attachment/running-jobs.ts";

/** The destination of the agent's log, which keeps the newest lines. */
interface KeptLog extends FlushableStream {
  /** Returns the kept lines, the oldest first. */
  lines(): readonly string[];
}

/**
 * Passes the log on to `output` and keeps the newest lines within LOG_LIMITS, without secrets: the operator of the
 * control plane reads them, who need not be the one of this host. `redact` knows the agent's own secrets.
 */
export function keepLog(output: FlushableStream, redact: Redact): KeptLog {
  const kept: string[] = [];
  let characters = 0;

  function keep(line: string): void {
    // Secrets are hidden first: half of one that is cut would not be recognized.
    const cut = cutLine(hideSecrets(redact(line)), LOG_LIMITS.lineCharacters);
    // A copy, because part of a string keeps the whole string in memory.
    const copy = Buffer.from(cut).toString();
    kept.push(copy);
    characters += copy.length;
    while (kept.length > LOG_LIMITS.lines || characters > LOG_LIMITS.characters)
      characters -= kept.shift()?.length ?? 0;
  }

  return {
    write(text) {
      output.write(text);
      keep(text.trimEnd());
    },
    flush: (done) => output.flush(done),
    lines: () => [...kept],
  };
}

/** Join tokens and API keys; users and passwords in URLs; header fields with credentials, to the end of their text. */
const TOKEN = /(v(?:jt|tg)_)[\w-]+/g;
const USER_INFO = /\/\/[^\s/?#"\\]*@/g;
const FIELD = /\b(authorization|cookie|x-api-key)(["\\]*: ?["\\]*)[^"\\]+/gi;

/** Hides what looks like a credential in a text, in addition to the fields that the log hides by their names. */
function hideSecrets(text: string): string {
  return text.replaceAll(TOKEN, "$1***").replaceAll(USER_INFO, "//***@").replaceAll(FIELD, "$1$2***");
}

/** Sends lines in parts, each after the connection has taken over the one before, as results of jobs wait behind them. */
export async function sendLog(lines: readonly string[], requestId: number, source: JobSource): Promise<void> {
  for (const value of splitLog(lines, requestId)) await source.sayInTurn({ body: { $case: "logLines", value } });
}

type LogPart = Extract<NonNullable<AgentMessage["body"]>, { $case: "logLines" }>["value"];

/** Splits lines into messages. The last one can be empty. */
function* splitLog(lines: readonly string[], requestId: number): Generator<LogPart> {
  let part: string[] = [];
  let characters = 0;
  for (const line of lines) {
    part.push(line);
    characters += line.length;
    if (characters < LOG_LIMITS.partCharacters) continue;
    yield { requestId, lines: part, last: false };
    part = [];
    characters = 0;
  }
  yield { requestId, lines: part, last: true };
}
