import type { Schemas } from "@/api/client";

/** Where something is, as people say it: Claim information (2300), HI. */
export function placeOf(p: Partial<Schemas["Finding"]>): { where: string; name: string } {
  if (p.field) {
    const seg = p.segment ? `${p.segment_name || "Segment"} (AM${p.segment})` : "Header";
    return { where: seg, name: p.field_name || p.field };
  }
  const loop = p.loop ? `${p.loop_name ? `${p.loop_name} ` : ""}(${p.loop})` : "";
  const code = `${p.segment ?? ""}${p.element ?? ""}`;
  const called = p.element_name || p.segment_name;
  return { where: loop || (p.segment && p.transaction !== undefined ? `${p.segment_name || "Segment"} (AM${p.segment})` : ""), name: called ? `${code} ${called}` : code };
}

/** Whether the system has set a place right by itself: a count, or the number of a level. */
export const counted = (x: Schemas["Difference"]): boolean => x.kind === "changed" && ["SE", "GE", "IEA", "HL", "LX"].includes(x.segment ?? "");
