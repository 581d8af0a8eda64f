// What the generated client names of Polly, which no package of Debian has.
namespace Polly {
    using System;
    using System.Threading;
    using System.Threading.Tasks;

    public enum OutcomeType { Successful, Failure }

    public sealed class PolicyResult<T> {
        public OutcomeType Outcome = OutcomeType.Failure;
        public T Result;
        public Exception FinalException;
    }

    public interface ISyncPolicy<T> {
        PolicyResult<T> ExecuteAndCapture(Func<T> run);
    }

    public interface IAsyncPolicy<T> {
        Task<PolicyResult<T>> ExecuteAndCaptureAsync(Func<CancellationToken, Task<T>> run, CancellationToken stop);
        Task<PolicyResult<T>> ExecuteAndCaptureAsync(Func<Task<T>> run);
    }
}
