import type { Contract } from "#shared/tools/define.ts";

/** Returns the name of a tool's schema in the API document. E.g. email-check with suffix `Result`: EmailCheckResult. */
export function componentName({ name }: Pick<Contract, "name">, suffix: string): string {
  const words = name.split("-").map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `${words.join("")}${suffix}`;
}
