import type { Schemas } from "@/api/client";

type Rule = Schemas["Rule"];
type RxRule = Schemas["RxRule"];

const two = (n: number): string => String(n).padStart(2, "0");

/** A rule in words, without its values. */
export function sayRule(u: Rule): string {
  const where = u.where?.map((m) => `${two(m.element)} is ${m.value || "a value"}`).join(", ");
  const segment = `${u.segment}${u.loop ? ` of loop ${u.loop}` : ""}${where ? ` where ${where}` : ""}`;
  const element = u.element ? `${u.segment}${two(u.element)}${u.component ? `-${u.component}` : ""}` : "";
  switch (u.op) {
    case "insert_after":
      return `Insert a segment behind ${segment}`;
    case "delete":
      return element ? `Clear ${element} in ${segment}` : `Delete ${segment}`;
    case "replace":
      return `Replace a value of ${element} in ${segment}`;
    case "set":
      return `Set ${element} in ${segment}`;
  }
}

export function sayRxRule(u: RxRule): string {
  const where = u.segment ? `segment AM${u.segment}` : "the header";
  if (!u.field) return `${u.op === "delete" ? "Delete" : "Insert"} ${where}`;
  const verbs = { set: "Set", replace: "Replace a value of", insert: "Insert", delete: "Delete" };
  return `${verbs[u.op]} ${u.field} in ${where}`;
}

export const sayRecipe = (r: { rules: Rule[]; rx_rules: RxRule[] }): string => [...r.rules.map(sayRule), ...r.rx_rules.map(sayRxRule)].join("; ");

/** What a verdict or outcome means. */
export const verdicts: Record<string, { label: string; color: string; about: string }> = {
  clean: { label: "Can be corrected", color: "green", about: "The rules pass it afterwards." },
  applied: { label: "Corrected", color: "green", about: "It has a new revision." },
  faulty: { label: "Still faulty", color: "red", about: "Something else is wrong with it, or the recipe does not mend it." },
  not_applicable: { label: "Does not fit", color: "gray", about: "No place in it is what the recipe is about." },
  unchanged: { label: "So already", color: "gray", about: "It is at those places as the recipe wants it." },
  not_correctable: { label: "Cannot be corrected", color: "gray", about: "It is not in quarantine, or cannot be read." },
  not_found: { label: "Gone", color: "gray", about: "There is no such record." },
  moved: { label: "Changed meanwhile", color: "yellow", about: "Somebody else was there first: it was left alone." },
  failed: { label: "Failed", color: "red", about: "The store or the vault has failed." },
};

/** A rule that says enough to be tried. */
export function complete(u: Rule): boolean {
  if (!/^[A-Z][A-Z0-9]{1,2}$/.test(u.segment)) return false;
  if (u.op === "insert_after") return /^[A-Z][A-Z0-9]{1,2}\*.+/.test(u.text ?? "");
  return u.op === "delete" || !!u.element;
}

export const completeRx = (u: RxRule): boolean => (!u.segment || /^[0-9]{2}$/.test(u.segment)) && (u.field ? /^[0-9A-Z]{2}$/.test(u.field) : u.op === "insert" || u.op === "delete");
