/** Makes the tables of docs/audit.md from the schemas of the audit stream (src/platform/audit/audit-line.ts). */
import { z } from "zod";
import { AuditLine, LeftOutLine, SuppressedLine } from "../src/platform/audit/audit-line.ts";
import { generateParts, table } from "./marked-part.ts";

type Field = {
  type?: string | string[];
  enum?: string[];
  format?: string;
  const?: string;
  anyOf?: Field[];
  description?: string;
};

const typeOf = ({ type, enum: values, format, const: only, anyOf }: Field): string => {
  if (anyOf) return anyOf.map(typeOf).join(" or ");
  if (only !== undefined) return `\`${only}\``;
  if (values) return values.map((value) => `\`${value}\``).join(", ");
  return format === "date-time" ? "time, RFC 3339" : [type ?? ""].flat().join(" or ");
};

const fieldsOf = (schema: z.ZodObject): string => {
  const { properties = {}, required = [] } = z.toJSONSchema(schema) as {
    properties?: Record<string, Field>;
    required?: string[];
  };
  const rows = Object.entries(properties).map(([name, field]) => [
    `\`${name}\``,
    typeOf(field),
    required.includes(name) ? "always" : "where known",
    field.description ?? "",
  ]);
  return table(["Field", "Type", "Present", "Meaning"], rows);
};

/** Writes the tables, or with `check` compares them. Returns what it wrote. Throws an Error when one is stale. */
export const generateAudit = (options: { check: boolean }): Promise<string> =>
  generateParts(
    "docs/audit.md",
    { line: fieldsOf(AuditLine), suppressed: fieldsOf(SuppressedLine), left_out: fieldsOf(LeftOutLine) },
    options,
  );
