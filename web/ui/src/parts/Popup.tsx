import { cloneElement, type KeyboardEvent, type ReactElement, type ReactNode, type ToggleEvent, useId, useRef, useState } from "react";

interface Props {
  /** Opens and closes it. */
  button: ReactElement<{ popoverTarget?: string }>;
  label: string;
  /** What is in it, made anew each time it opens. What has data-closes closes it when it is pressed. */
  children: ReactNode;
}

/** What opens at a button: choices, or a small form. The browser closes it with Escape or a press elsewhere and gives the focus back. */
export function Popup({ button, label, children }: Props) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const opens = (e: ToggleEvent<HTMLDivElement>) => {
    if (e.newState !== "open") return;
    setOpen(true);
    const p = e.currentTarget;
    // Before it is drawn: what is in it is there by then, and how large it is.
    requestAnimationFrame(() => {
      const at = box.current!.firstElementChild!.getBoundingClientRect();
      const { offsetWidth: w, offsetHeight: h } = p;
      const left = at.left + at.right > innerWidth ? at.right - w : at.left;
      const top = at.bottom + h + 8 > innerHeight && at.top > h + 8 ? at.top - h - 4 : at.bottom + 4;
      p.style.left = `${Math.max(8, Math.min(left, innerWidth - w - 8))}px`;
      p.style.top = `${Math.max(8, Math.min(top, innerHeight - h - 8))}px`;
      stops(p)[0]?.focus({ preventScroll: true });
      addEventListener("scroll", () => p.isConnected && p.hidePopover(), { once: true });
    });
  };
  const keys = (e: KeyboardEvent<HTMLDivElement>) => {
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step === 0 || !(document.activeElement as Element).matches(".popup-item")) return;
    e.preventDefault();
    const all = stops(e.currentTarget);
    all[(all.indexOf(document.activeElement as HTMLElement) + step + all.length) % all.length]?.focus();
  };
  return (
    <div ref={box}>
      {cloneElement(button, { popoverTarget: id })}
      <div
        id={id}
        popover="auto"
        className="popup"
        role="group"
        aria-label={label}
        onBeforeToggle={opens}
        // Once it is closed and the focus is back: what had it must not go before.
        onToggle={(e) => setOpen(e.newState === "open")}
        onKeyDown={keys}
        onClick={(e) => {
          if ((e.target as Element).closest("[data-closes]")) e.currentTarget.hidePopover();
        }}
      >
        {open && children}
      </div>
    </div>
  );
}

const stops = (p: HTMLElement) => [...p.querySelectorAll<HTMLElement>("a, button:enabled, input:enabled, select")];

/** The looks and manners of a choice: spread them over a button or a Link. */
export const choice = { className: "popup-item", "data-closes": true } as const;
