import { useCallback, useEffect, useRef, useState } from "react";
import { api, got, type Schemas } from "@/api/client";
import { begin, type History, redo, step, undo } from "./history";
import { change, type Change, type Doc, toApi, unchange } from "./model";

type Proposal = Schemas["Proposal"];

const pause = 350;

/** The edits of a claim with undo and redo, and what the server says of them: asked when the typing pauses. */
export function useDraft(id: number, doc: Doc, reason: string) {
  const [h, setH] = useState<History<Change[]>>(() => begin([]));
  const [proposal, setProposal] = useState<Proposal | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [asking, setAsking] = useState(false);
  const latest = useRef(0);
  const changes = h.now;

  useEffect(() => {
    const turn = ++latest.current;
    const edits = toApi(doc, changes);
    if (Object.values(edits)[0].length === 0) {
      setProposal(null);
      setError(null);
      setAsking(false);
      return;
    }
    setAsking(true);
    const t = setTimeout(() => {
      got(api.POST("/v1/records/{id}/correct:propose", { params: { path: { id } }, body: { reason, ...edits } }))
        .then((p) => {
          if (turn !== latest.current) return;
          setProposal(p);
          setError(null);
        })
        .catch((e: unknown) => {
          if (turn !== latest.current) return;
          setProposal(null);
          setError(e);
        })
        .finally(() => turn === latest.current && setAsking(false));
    }, pause);
    return () => clearTimeout(t);
  }, [changes, doc, id, reason]);

  const set = useCallback((c: Change) => setH((x) => step(x, change(doc, x.now, c), about(c))), [doc]);
  const drop = useCallback((c: Change) => setH((x) => step(x, unchange(x.now, c), "")), []);
  return {
    changes,
    proposal,
    error,
    asking,
    set,
    drop,
    undo: useCallback(() => setH(undo), []),
    redo: useCallback(() => setH(redo), []),
    canUndo: h.past.length > 0,
    canRedo: h.future.length > 0,
  };
}

export type Draft = ReturnType<typeof useDraft>;

function about(c: Change): string {
  switch (c.op) {
    case "set":
      return `set ${c.cell}`;
    case "insert":
    case "field":
      return `${c.op} ${c.id}`;
    default:
      return "";
  }
}
