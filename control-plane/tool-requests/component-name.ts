import type { Contract } from "#shared/tools/define.ts";

/** Name of a tool's schema among the document's components: `Result` of email-check is EmailCheckResult. */
export function componentName({ name }: Pick<Contract, "name">, suffix: string): string {
  const words = name.split("-").map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `${words.join("")}${suffix}`;
}
