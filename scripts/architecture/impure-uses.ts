import { lineAt, type Place, parseSource, type SyntaxNode, walk } from "./parse-source.ts";
import { impureGlobals, partlyPureGlobals } from "./purity-rules.ts";

/** A use of a clock, of randomness or of I/O that needs no import. `what`: the code. `line`: from 1. */
type ImpureUse = { what: string; line: number };

/** Nodes of types that hold a value all the same. */
const wrappers = ["TSAsExpression", "TSInstantiationExpression", "TSNonNullExpression", "TSSatisfiesExpression"];

const isOfTypes = (node: SyntaxNode, place: Place | undefined): boolean =>
  (node.type.startsWith("TS") && !wrappers.includes(node.type)) ||
  (place?.name !== "expression" && place !== undefined && wrappers.includes(place.parent.type));

/** `name` in `a.name`, `{ name: a }` and `name() {}`, which names a member, no variable. */
const namesMember = ({ parent, name }: Place): boolean =>
  parent.computed !== true &&
  ((parent.type === "MemberExpression" && name === "property") ||
    (name === "key" && ["MethodDefinition", "Property", "PropertyDefinition"].includes(parent.type)));

/** `b` in `a.b` and in `a["b"]`; undefined when it is computed. */
const memberOf = ({ property, computed }: SyntaxNode): string | undefined => {
  const { type, name, value } = property as SyntaxNode;
  if (computed !== true) return String(name);
  return type === "Literal" ? String(value) : undefined;
};

/** Whether a global of which only some members are pure is used purely here. */
const isPureUse = (global: string, { parent, name }: Place): boolean => {
  const rule = partlyPureGlobals[global];
  if (!rule) return true;
  if (parent.type === "BinaryExpression") return parent.operator === "instanceof" && name === "right";
  if (parent.type === "NewExpression" && name === "callee") {
    const [first] = parent.arguments as SyntaxNode[];
    return first !== undefined && first.type !== "SpreadElement";
  }
  if (parent.type !== "MemberExpression" || name !== "object") return false;
  const member = memberOf(parent);
  if (member === undefined) return false;
  return "only" in rule ? rule.only.includes(member) : !rule.but.includes(member);
};

/** The longest piece of code that a message quotes, characters. */
const quoted = 60;

const quote = (text: string, { parent }: Place): string => {
  const code = text.slice(parent.start, parent.end).replace(/\s+/g, " ");
  return code.length > quoted ? `${code.slice(0, quoted)}…` : code;
};

/** The impure uses in one file, its imports aside. An alias counts too: to make one, the code names the global. */
export const impureUses = (file: string, text: string): ImpureUse[] => {
  const found: ImpureUse[] = [];
  const visit = (node: SyntaxNode, place?: Place): boolean => {
    // check-purity.ts looks at imports.
    if (node.type === "ImportDeclaration" || isOfTypes(node, place)) return false;
    if (node.type !== "Identifier" || place === undefined || namesMember(place)) return true;
    const name = String(node.name);
    if (impureGlobals.includes(name) || !isPureUse(name, place))
      found.push({ what: quote(text, place), line: lineAt(text, node.start) });
    return true;
  };
  for (const statement of parseSource(file, text).statements) walk(statement as unknown as SyntaxNode, visit);
  return found;
};
