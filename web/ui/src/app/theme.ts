import { createTheme, type CSSVariablesResolver } from "@mantine/core";

export const theme = createTheme({
  primaryColor: "blue",
  primaryShade: 8,
  autoContrast: true,
  defaultRadius: "sm",
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', Menlo, Consolas, monospace",
  headings: { fontWeight: "650" },
  respectReducedMotion: true,
  cursorType: "pointer",
  focusRing: "auto",
  components: {
    // Buttons that close have a name, and the head of a dialog is not a second head of the page.
    Modal: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    ModalHeader: { defaultProps: { role: "presentation" } },
    Notification: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
  },
});

// The library's dimmed text and placeholders have less contrast than WCAG 2.2 AA asks for (1.4.3).
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: { "--mantine-color-dimmed": "#525a63", "--mantine-color-placeholder": "#5c656e", "--mantine-color-error": "#c02a2a" },
  dark: { "--mantine-color-dimmed": "#aab1b8", "--mantine-color-placeholder": "#9aa2aa", "--mantine-color-error": "#ff8787" },
});
