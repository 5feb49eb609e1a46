/* The adapter of dgsuite for MPI libraries without the standard ABI of MPI 5, such as Open MPI 4 and 5, older
   MPICH, MVAPICH, Cray MPICH and older Intel MPI. Compile it with the compiler of your MPI (`mpicc`; on Cray
   systems `cc`), and tell dgsuite where it is:

       mpicc -O2 -shared -fPIC -o libdgsuite_mpi.so dgsuite-mpi.c
       export DGSUITE_MPI_LIBRARY=$PWD/libdgsuite_mpi.so

   The variable is not needed if the library is in the folder of the program dgsuite.

   It has the functions that dgsuite calls, with the prefix dgsuite_, so that they do not replace those of the
   library. Handles, constants and statuses are those of the standard ABI outside, and those of mpi.h inside. */

#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION < 3
#error "dgsuite needs MPI 3.0 or newer"
#endif

/* The most bytes of one message with a count of type int. */
#ifndef LONGEST
#define LONGEST INT_MAX
#endif

/* Values of the standard ABI. */
enum {
    ABI_COMM_NULL = 0x100,
    ABI_COMM_WORLD = 0x101,
    ABI_BYTE = 0x247,
    ABI_INT64 = 0x258,
    ABI_UINT64 = 0x259,
    ABI_SUM = 0x21,
    ABI_MAX = 0x23,
    ABI_REQUEST_NULL = 0x180,
    ABI_ERRORS_RETURN = 0x143,
    ABI_ANY_SOURCE = -1,
    ABI_ANY_TAG = -2,
    ABI_THREAD_SINGLE = 0,
    ABI_THREAD_FUNNELED = 1024,
    ABI_THREAD_SERIALIZED = 2048,
    ABI_THREAD_MULTIPLE = 4096,
    ABI_PENDING = 18,
    ABI_IN_STATUS = 19,
    ABI_IN_PLACE = 1,
    ABI_MAX_ERROR_STRING = 512,
    ABI_MAX_LIBRARY_VERSION_STRING = 8192
};

/* A handle is a word of the size of a pointer: mpi.h has pointers (Open MPI) or integers (MPICH). */
typedef intptr_t Handle;

/* The count of bytes is kept in the internal part. */
typedef struct {
    int source, tag, error, internal[5];
} Status;

#define ADAPTER(name) dgsuite_MPI_##name
/* Requests for which no memory is allocated. */
#define FEW 64

/* Error codes: two classes have fixed numbers outside. Others keep theirs, or get its negative if it is one of
   these two. */
static int outside(int code) {
    int kind = code;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &kind);
    if (kind == MPI_ERR_IN_STATUS) return ABI_IN_STATUS;
    if (kind == MPI_ERR_PENDING) return ABI_PENDING;
    return code == ABI_IN_STATUS || code == ABI_PENDING ? -code : code;
}

static int inside(int code) {
    if (code == ABI_IN_STATUS) return MPI_ERR_IN_STATUS;
    if (code == ABI_PENDING) return MPI_ERR_PENDING;
    return code < 0 ? -code : code;
}

static MPI_Comm comm_of(Handle comm) {
    if (comm == ABI_COMM_NULL) return MPI_COMM_NULL;
    return comm == ABI_COMM_WORLD ? MPI_COMM_WORLD : (MPI_Comm)comm;
}

static MPI_Request request_of(Handle request) {
    return request == ABI_REQUEST_NULL ? MPI_REQUEST_NULL : (MPI_Request)request;
}

static Handle of_request(MPI_Request request) {
    return request == MPI_REQUEST_NULL ? ABI_REQUEST_NULL : (Handle)request;
}

static MPI_Datatype type_of(Handle type) {
    if (type == ABI_INT64) return MPI_INT64_T;
    if (type == ABI_UINT64) return MPI_UINT64_T;
    return type == ABI_BYTE ? MPI_BYTE : MPI_DATATYPE_NULL;
}

static MPI_Op op_of(Handle op) {
    if (op == ABI_SUM) return MPI_SUM;
    return op == ABI_MAX ? MPI_MAX : MPI_OP_NULL;
}

static int source_of(int source) { return source == ABI_ANY_SOURCE ? MPI_ANY_SOURCE : source; }

static int tag_of(int tag) { return tag == ABI_ANY_TAG ? MPI_ANY_TAG : tag; }

static void tell(Status *to, const MPI_Status *from) {
    MPI_Count bytes = 0;
    int64_t count;
    if (MPI_Get_elements_x(from, MPI_BYTE, &bytes) != MPI_SUCCESS) bytes = 0;
    count = bytes;
    to->source = from->MPI_SOURCE;
    to->tag = from->MPI_TAG;
    to->error = outside(from->MPI_ERROR);
    memcpy(to->internal, &count, sizeof count);
}

/* So many bytes as a number of elements of a type. A message too long for a count of type int is one element
   of a type that is made for it, and freed by `done`. */
typedef struct {
    int count;
    MPI_Datatype type;
} Message;

static int message(Message *message, int64_t bytes, Handle type) {
    enum { run_bytes = LONGEST / 2 };
    MPI_Datatype types[2];
    int lengths[2], code;
    MPI_Aint places[2];
    message->count = (int)bytes;
    message->type = type_of(type);
    if (bytes <= LONGEST) return MPI_SUCCESS;
    if (type != ABI_BYTE) return MPI_ERR_COUNT;
    message->count = 1;
    lengths[0] = (int)(bytes / run_bytes);
    lengths[1] = (int)(bytes % run_bytes);
    places[0] = 0;
    places[1] = (MPI_Aint)(bytes - lengths[1]);
    types[1] = MPI_BYTE;
    code = MPI_Type_contiguous(run_bytes, MPI_BYTE, &types[0]);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Type_create_struct(2, lengths, places, types, &message->type);
    MPI_Type_free(&types[0]);
    return code == MPI_SUCCESS ? MPI_Type_commit(&message->type) : code;
}

/* Operations under way keep the type until they are complete. */
static void done(Message *message, int64_t bytes) {
    if (bytes > LONGEST) MPI_Type_free(&message->type);
}

/* Calls a function with a message of `bytes` bytes as `m` and a new request as `r`. */
#define REQUEST(call)                                    \
    do {                                                 \
        Message m;                                       \
        MPI_Request r = MPI_REQUEST_NULL;                \
        int code = message(&m, bytes, type);             \
        if (code != MPI_SUCCESS) return outside(code);   \
        code = call;                                     \
        done(&m, bytes);                                 \
        if (code == MPI_SUCCESS) *request = of_request(r); \
        return outside(code);                            \
    } while (0)

int ADAPTER(Abi_get_version)(int *major, int *minor) {
    *major = 1;
    *minor = 0;
    return MPI_SUCCESS;
}

/* The first words of the library's own text: `Open MPI v5.0.11, package: ...`, `MPICH Version: 4.3.2 ...`. */
int ADAPTER(Get_library_version)(char *text, int *length) {
    char native[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int n = 0, code = MPI_Get_library_version(native, &n);
    native[strcspn(native, ",\r\n")] = '\0';
    snprintf(text, ABI_MAX_LIBRARY_VERSION_STRING, "%.200s through dgsuite's adapter", native);
    *length = (int)strlen(text);
    return outside(code);
}

int ADAPTER(Error_string)(int code, char *text, int *length) {
    char native[MPI_MAX_ERROR_STRING + 1] = "";
    int n = 0, result = MPI_Error_string(inside(code), native, &n);
    snprintf(text, ABI_MAX_ERROR_STRING, "%.500s", native);
    *length = (int)strlen(text);
    return outside(result);
}

int ADAPTER(Initialized)(int *flag) { return outside(MPI_Initialized(flag)); }

int ADAPTER(Init_thread)(int *argc, char ***argv, int required, int *provided) {
    int level = MPI_THREAD_SINGLE, wanted = MPI_THREAD_MULTIPLE, code;
    if (required == ABI_THREAD_SINGLE) wanted = MPI_THREAD_SINGLE;
    if (required == ABI_THREAD_FUNNELED) wanted = MPI_THREAD_FUNNELED;
    if (required == ABI_THREAD_SERIALIZED) wanted = MPI_THREAD_SERIALIZED;
    code = MPI_Init_thread(argc, argv, wanted, &level);
    *provided = ABI_THREAD_SINGLE;
    if (level == MPI_THREAD_FUNNELED) *provided = ABI_THREAD_FUNNELED;
    if (level == MPI_THREAD_SERIALIZED) *provided = ABI_THREAD_SERIALIZED;
    if (level == MPI_THREAD_MULTIPLE) *provided = ABI_THREAD_MULTIPLE;
    return outside(code);
}

int ADAPTER(Finalize)(void) { return outside(MPI_Finalize()); }

int ADAPTER(Comm_rank)(Handle comm, int *rank) { return outside(MPI_Comm_rank(comm_of(comm), rank)); }

int ADAPTER(Comm_size)(Handle comm, int *size) { return outside(MPI_Comm_size(comm_of(comm), size)); }

int ADAPTER(Comm_dup)(Handle comm, Handle *copy) {
    MPI_Comm made = MPI_COMM_NULL;
    int code = MPI_Comm_dup(comm_of(comm), &made);
    *copy = made == MPI_COMM_NULL ? ABI_COMM_NULL : (Handle)made;
    return outside(code);
}

int ADAPTER(Comm_free)(Handle *comm) {
    MPI_Comm native = comm_of(*comm);
    int code = MPI_Comm_free(&native);
    *comm = ABI_COMM_NULL;
    return outside(code);
}

int ADAPTER(Comm_set_errhandler)(Handle comm, Handle handler) {
    MPI_Errhandler native = handler == ABI_ERRORS_RETURN ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
    return outside(MPI_Comm_set_errhandler(comm_of(comm), native));
}

int ADAPTER(Send_init_c)(const void *place, int64_t bytes, Handle type, int to, int tag, Handle comm,
                         Handle *request) {
    REQUEST(MPI_Send_init(place, m.count, m.type, to, tag, comm_of(comm), &r));
}

int ADAPTER(Recv_init_c)(void *place, int64_t bytes, Handle type, int from, int tag, Handle comm,
                         Handle *request) {
    REQUEST(MPI_Recv_init(place, m.count, m.type, source_of(from), tag_of(tag), comm_of(comm), &r));
}

int ADAPTER(Isend_c)(const void *place, int64_t bytes, Handle type, int to, int tag, Handle comm,
                     Handle *request) {
    REQUEST(MPI_Isend(place, m.count, m.type, to, tag, comm_of(comm), &r));
}

int ADAPTER(Irecv_c)(void *place, int64_t bytes, Handle type, int from, int tag, Handle comm,
                     Handle *request) {
    REQUEST(MPI_Irecv(place, m.count, m.type, source_of(from), tag_of(tag), comm_of(comm), &r));
}

int ADAPTER(Ibcast_c)(void *place, int64_t bytes, Handle type, int root, Handle comm, Handle *request) {
    REQUEST(MPI_Ibcast(place, m.count, m.type, root, comm_of(comm), &r));
}

int ADAPTER(Iallreduce_c)(const void *from, void *to, int64_t count, Handle type, Handle op, Handle comm,
                          Handle *request) {
    MPI_Request r = MPI_REQUEST_NULL;
    int code = MPI_ERR_COUNT;
    if (from == (const void *)ABI_IN_PLACE) from = MPI_IN_PLACE;
    if (count <= INT_MAX)
        code = MPI_Iallreduce(from, to, (int)count, type_of(type), op_of(op), comm_of(comm), &r);
    if (code == MPI_SUCCESS) *request = of_request(r);
    return outside(code);
}

int ADAPTER(Ibarrier)(Handle comm, Handle *request) {
    MPI_Request r = MPI_REQUEST_NULL;
    int code = MPI_Ibarrier(comm_of(comm), &r);
    if (code == MPI_SUCCESS) *request = of_request(r);
    return outside(code);
}

int ADAPTER(Recv_c)(void *place, int64_t bytes, Handle type, int from, int tag, Handle comm, Status *status) {
    Message m;
    MPI_Status native;
    int code = message(&m, bytes, type);
    if (code != MPI_SUCCESS) return outside(code);
    memset(&native, 0, sizeof native);
    code = MPI_Recv(place, m.count, m.type, source_of(from), tag_of(tag), comm_of(comm), &native);
    done(&m, bytes);
    tell(status, &native);
    return outside(code);
}

int ADAPTER(Iprobe)(int source, int tag, Handle comm, int *flag, Status *status) {
    MPI_Status native;
    int code;
    memset(&native, 0, sizeof native);
    code = MPI_Iprobe(source_of(source), tag_of(tag), comm_of(comm), flag, &native);
    if (code == MPI_SUCCESS && *flag) tell(status, &native);
    return outside(code);
}

/* In elements of one byte, the only ones of which dgsuite sends messages. */
int ADAPTER(Get_count_c)(const Status *status, Handle type, int64_t *count) {
    if (type != ABI_BYTE) return MPI_ERR_TYPE;
    memcpy(count, status->internal, sizeof *count);
    return MPI_SUCCESS;
}

int ADAPTER(Startall)(int count, Handle *requests) {
    MPI_Request few[FEW], *native = few;
    int i, code;
    if (count > FEW) native = malloc((size_t)count * sizeof *native);
    if (!native) return MPI_ERR_NO_MEM;
    for (i = 0; i < count; i++) native[i] = request_of(requests[i]);
    code = MPI_Startall(count, native);
    for (i = 0; i < count; i++) requests[i] = of_request(native[i]);
    if (native != few) free(native);
    return outside(code);
}

int ADAPTER(Testall)(int count, Handle *requests, int *flag, Status *statuses) {
    MPI_Request few[FEW], *native = few;
    MPI_Status few_told[FEW], *told = few_told;
    int i, code = MPI_ERR_NO_MEM;
    if (count > FEW) {
        native = malloc((size_t)count * sizeof *native);
        told = malloc((size_t)count * sizeof *told);
    }
    if (native && told) {
        memset(told, 0, (size_t)count * sizeof *told);
        for (i = 0; i < count; i++) native[i] = request_of(requests[i]);
        code = outside(MPI_Testall(count, native, flag, told));
        for (i = 0; i < count; i++) requests[i] = of_request(native[i]);
        for (i = 0; i < count && (*flag || code == ABI_IN_STATUS); i++) tell(&statuses[i], &told[i]);
    }
    if (native != few) free(native);
    if (told != few_told) free(told);
    return code;
}

int ADAPTER(Request_get_status)(Handle request, int *flag, Status *status) {
    MPI_Status native;
    int code;
    memset(&native, 0, sizeof native);
    code = MPI_Request_get_status(request_of(request), flag, &native);
    if (code == MPI_SUCCESS && *flag) tell(status, &native);
    return outside(code);
}

int ADAPTER(Request_free)(Handle *request) {
    MPI_Request native = request_of(*request);
    int code = MPI_Request_free(&native);
    *request = of_request(native);
    return outside(code);
}
