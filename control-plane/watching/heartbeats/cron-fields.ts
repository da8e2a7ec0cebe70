/** The values at which a schedule of cron runs, each list in ascending order. */
export interface CronFields {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly daysOfMonth: readonly number[];
  readonly months: readonly number[];
  /** 0 is Sunday, 6 Saturday. */
  readonly daysOfWeek: readonly number[];
  /** Whether a day must be in both lists of days; else one of the two suffices. */
  readonly needsBothDays: boolean;
  /** Whether the minute or the hour field begins with an asterisk, so that runs follow the clock when it is changed. */
  readonly followsClock: boolean;
}

/** An expression that was read, or what is wrong with it. */
type CronReading =
  | { readonly ok: true; readonly fields: CronFields }
  | { readonly ok: false; readonly message: string };

/** A field of an expression: its name, its smallest and largest value, and the names of values from the smallest on. */
interface FieldRule {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly names: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const RULES: readonly FieldRule[] = [
  { name: "minute", low: 0, high: 59, names: [] },
  { name: "hour", low: 0, high: 23, names: [] },
  { name: "day of month", low: 1, high: 31, names: [] },
  { name: "month", low: 1, high: 12, names: MONTHS },
  { name: "day of week", low: 0, high: 7, names: DAYS },
];

/** Words with their five fields (crontab(5) of Debian), without @reboot, which has none. */
const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

const MAX_LENGTH = 200;
const NOT_PRINTABLE = /[^ -~]/u;

/**
 * Reads an expression as cron 3.0pl1 of Debian does: numbers, names of months and weekdays, ranges and lists of both, and
 * steps after an asterisk or a range. What that cron takes without ever running it is refused, and so is what it
 * silently leaves out, such as the end of 0#1.
 */
export function readCronFields(expression: string): CronReading {
  if (expression.length > MAX_LENGTH) return refuse(`must have at most ${MAX_LENGTH} characters`);
  const odd = NOT_PRINTABLE.exec(expression);
  if (odd !== null) return refuse(`has the character ${nameOf(odd[0])}; only printable ASCII characters are allowed`);
  const text = expression.trim();
  if (text.startsWith("@")) return readNickname(text);
  const given = text === "" ? [] : text.split(/ +/);
  if (given.length !== RULES.length) {
    const names = RULES.map(({ name }) => name).join(", ");
    return refuse(`must have five fields (${names}) and has ${given.length}, or be one of ${nicknames()}`);
  }
  const lists: (readonly number[])[] = [];
  for (const [index, rule] of RULES.entries()) {
    const read = readField(given[index] ?? "", rule);
    if (!read.ok) return read;
    lists.push(read.values);
  }
  const [minutes = [], hours = [], daysOfMonth = [], months = [], daysOfWeek = []] = lists;
  const [minute = "", hour = "", dayOfMonth = "", , dayOfWeek = ""] = given;
  return {
    ok: true,
    fields: {
      minutes,
      hours,
      daysOfMonth,
      months,
      daysOfWeek: sorted(daysOfWeek.map((day) => day % 7)),
      // By the first character alone: the list *,5 begins with an asterisk, and the range 1-31 does not.
      needsBothDays: dayOfMonth.startsWith("*") || dayOfWeek.startsWith("*"),
      followsClock: minute.startsWith("*") || hour.startsWith("*"),
    },
  };
}

function readNickname(text: string): CronReading {
  const fields = NICKNAMES.get(text);
  if (fields !== undefined) return readCronFields(fields);
  if (text === "@reboot") {
    return refuse(
      `cannot be @reboot, which has no schedule: it runs when a machine starts. Allowed are ${nicknames()}`,
    );
  }
  return refuse(`has the unknown word "${text}". Allowed are ${nicknames()}, in lower case, or five fields`);
}

type FieldReading =
  | { readonly ok: true; readonly values: readonly number[] }
  | { readonly ok: false; readonly message: string };

function readField(text: string, rule: FieldRule): FieldReading {
  const values: number[] = [];
  for (const item of text.split(",")) {
    const read = readItem(item, rule);
    if (!read.ok) return read;
    values.push(...read.values);
  }
  return { ok: true, values: sorted(values) };
}

/** A value or a range, or all values; with a step or without. */
const ITEM = /^(?:\*|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:\/(\d+))?$/i;

function readItem(item: string, rule: FieldRule): FieldReading {
  const bad = (what: string): FieldReading => refuse(`the ${rule.name} field has ${what}`);
  const parts = ITEM.exec(item);
  if (parts === null) return bad(`"${item}"; ${allowedOf(rule)}`);
  const [, first, last, stepped] = parts;
  const step = stepped === undefined ? 1 : Number(stepped);
  if (step === 0) return bad(`the step 0 in "${item}"; a step is at least 1`);
  const from = first === undefined ? rule.low : readValue(first, rule);
  const to = first === undefined ? rule.high : last === undefined ? from : readValue(last, rule);
  if (from === null || to === null) return bad(`"${item}"; ${allowedOf(rule)}`);
  if (first !== undefined && last === undefined && stepped !== undefined) {
    return bad(
      `a step after a single value, "${item}"; a step follows * or a range, such as ${from}-${rule.high}/${step}`,
    );
  }
  if (from > to) return bad(`the range "${item}", which goes down from ${from} to ${to}, so cron never runs it`);
  const values: number[] = [];
  for (let value = from; value <= to; value += step) values.push(value);
  return { ok: true, values };
}

function readValue(text: string, { low, high, names }: FieldRule): number | null {
  const named = names.indexOf(text.toLowerCase());
  const value = named >= 0 ? low + named : /^\d+$/.test(text) ? Number(text) : null;
  return value !== null && value >= low && value <= high ? value : null;
}

function allowedOf({ low, high, names }: FieldRule): string {
  const or = names.length === 0 ? "" : ` or ${names[0]}-${names.at(-1)}`;
  return `allowed are ${low}-${high}${or}, *, ranges such as ${low}-${high}, steps such as */2, and lists of these with commas`;
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}

function nicknames(): string {
  return [...NICKNAMES.keys()].join(", ");
}

/** Returns the Unicode name of a character by its number, such as U+00A0. */
function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function sorted(values: readonly number[]): readonly number[] {
  return [...new Set(values)].toSorted((one, other) => one - other);
}
