import { Component, type ComponentChildren } from "preact";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";

type BoundaryProps = { path: string; children: ComponentChildren };
type BoundaryState = { failedPath: string | null };

/** Replaces a page that throws with an error page, until another page is opened. */
export class PageBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failedPath: null };

  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ failedPath: this.props.path });
  }

  override componentDidUpdate(): void {
    const { failedPath } = this.state;
    if (failedPath !== null && failedPath !== this.props.path) this.setState({ failedPath: null });
  }

  override render() {
    return this.state.failedPath === this.props.path ? <PageFailure /> : this.props.children;
  }
}

/** The error page for script errors, and for pages whose files cannot be loaded. */
const PageFailure = () => (
  <div class="empty" role="alert">
    <Icon name="warning" />
    <h1>This page has an error</h1>
    <p>Reload it. Nothing that was saved is lost.</p>
    <Button look="primary" onClick={() => location.reload()}>
      Reload
    </Button>
  </div>
);
