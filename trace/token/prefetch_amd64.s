#include "textflag.h"

// func prefetch(base unsafe.Pointer, index *uint32, n int, shift uint)
TEXT ·prefetch(SB), NOSPLIT, $0-32
	MOVQ base+0(FP), DI
	MOVQ index+8(FP), SI
	MOVQ n+16(FP), BX
	MOVQ shift+24(FP), CX
	TESTQ BX, BX
	JLE done
loop:
	MOVL (SI), AX
	SHLQ CX, AX
	PREFETCHT0 (DI)(AX*1)
	ADDQ $4, SI
	DECQ BX
	JNZ loop
done:
	RET
