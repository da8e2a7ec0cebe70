/** Writes a number with its noun: "1 monitor", "2,000 monitors". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** Writes a time to wait in seconds: "40 s", "3 min". */
export function waitOf(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
