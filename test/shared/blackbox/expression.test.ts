import { expect, it } from "vitest";
import { compileExpression, type Expression } from "#shared/blackbox/expression.ts";

function compile(source: string): Expression {
  const compiled = compileExpression(source);
  if ("fault" in compiled) throw new Error(compiled.fault);
  return compiled;
}

it("has the syntax of RE2: flags in groups, Unicode classes, no look-around and no back references", () => {
  expect(compile("(?i)hello\\s+W").matches("say HELLO   world")).toBe(true);
  expect(compile("(?s)a.b").matches("a\nb")).toBe(true);
  expect(compile("a.b").matches("a\nb")).toBe(false);
  expect(compile("^\\p{Lu}+$").matches("ÄÖ")).toBe(true);
  expect(compileExpression("a(?=b)")).toEqual({ fault: expect.stringContaining("(?=") });
  expect(compileExpression("(a)\\1")).toEqual({ fault: expect.any(String) });
});

it("takes time in proportion to a text that makes others step back for ever", () => {
  const hostile = "a".repeat(200_000);
  expect(compile("^(a|aa|a?)*b$").matches(`${hostile}!`)).toBe(false);
  expect(compile("(.*)(.*)(.*)(.*)x[0-9]").matches(hostile)).toBe(false);
});

it("writes what its groups matched in the place of references, as Go does", () => {
  const replace = compile("^220 (?P<host>[^ ]+) (E?SMTP)").find("220 mail.example ESMTP ready");
  expect(replace?.("HELO $1; ${2}x; $host; ${host}_; $host_; $9; $$1; $")).toBe(
    "HELO mail.example; ESMTPx; mail.example; mail.example_; ; ; $1; $",
  );
  expect(compile("^221").find("220 x")).toBeNull();
});
